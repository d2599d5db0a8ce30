// Which approvals a caller sees: keys that may not read the account see those of their own calls.
import { notFound } from '../../../approvals/decide.ts';
import { type ApprovalRow, approvalTable } from '../../../approvals/store.ts';
import { scopesAllow } from '../../../core/callers/scopes.ts';
import { keyOf } from '../../../core/keys/api-key.ts';
import type { CallContext } from '../../../kit/services.ts';

/** Id of the key that sees its own alone; null: the caller sees all. */
export function ownKey({ principal }: CallContext): string | null {
  const key = keyOf(principal);
  return key === null || scopesAllow(key.scopes, 'account.approvals.list', 'read') ? null : key.id;
}

/** Throws NOT_FOUND. */
export async function requireApproval(ctx: CallContext, approvalId: string): Promise<ApprovalRow> {
  const row = await approvalTable.find(ctx.core.db, ctx, approvalId);
  const own = ownKey(ctx);
  if (row === null || (own !== null && row.key_id !== own)) throw notFound();
  return row;
}
