// What the calling key may do to keys. Checked before the write, so that no stored answer leaks to a key that may not have it,
// and again under the account's lock, so that a key revoked or narrowed meanwhile changes nothing (contract §2).
import { lockAccount } from '../../core/accounts.ts';
import type { CallContext, Core } from '../../core/context.ts';
import { scopesAllow, scopesWithin } from '../../core/keys/scopes.ts';
import { findKey } from '../../core/keys/store.ts';
import { readKeys } from '../../core/wallet/statements.ts';
import { byteaArray, textArray } from '../../db/arrays.ts';
import type { Transaction } from '../../db/database.ts';
import { problem } from '../../problems/problem.ts';

export type Scopes = readonly string[] | null;

/** Throws SCOPE_ESCALATION when `wanted` holds anything that a key with the scopes `own` may not do. */
export function requireWithin(ctx: CallContext, own: Scopes, wanted: Scopes, param?: string): void {
  if (scopesWithin(ctx.core.scopeBook, wanted, own)) return;
  const what =
    param === undefined
      ? 'The key to be changed may do more than the calling key.'
      : 'The calling key cannot grant scopes that it has not got.';
  throw problem('SCOPE_ESCALATION', { message: what, param });
}

/**
 * The key a call is about must be one that the calling key may change. One that does not exist passes: a replay, and a key of
 * another request, are judged before existence (contract §1). Throws SCOPE_ESCALATION.
 */
export async function requireTargetWithin(ctx: CallContext, keyId: string): Promise<void> {
  const target = await findKey(ctx.core.db, ctx.accountId, keyId);
  if (target !== null) requireWithin(ctx, ctx.key.scopes, target.scopes);
}

export interface Entry {
  /** Time of the change. */
  readonly nowMs: number;
  /** Scopes of the calling key as they are under the lock. */
  readonly scopes: Scopes;
}

/** Locks the account and makes sure of the calling key. Throws INVALID_API_KEY, INSUFFICIENT_SCOPE. */
export async function enter(tx: Transaction, ctx: CallContext): Promise<Entry> {
  const [nowMs, caller] = await Promise.all([
    lockAccount(tx, ctx.accountId),
    tx.query<{ scopes: string[] | null }>(readKeys, [textArray([ctx.accountId]), byteaArray([ctx.key.secretHash])]),
  ]);
  const [live] = caller.rows;
  if (nowMs === null || live === undefined) throw problem('INVALID_API_KEY');
  if (!scopesAllow(live.scopes, ctx.capability, 'admin')) throw problem('INSUFFICIENT_SCOPE');
  return { nowMs, scopes: live.scopes };
}

/** As `enter`, and checks the target again: it may have been widened since. */
export async function enterFor(tx: Transaction, ctx: CallContext, keyId: string): Promise<Entry> {
  const entry = await enter(tx, ctx);
  const target = await findKey(tx, ctx.accountId, keyId);
  if (target !== null) requireWithin(ctx, entry.scopes, target.scopes);
  return entry;
}

/** After the commit: when this resolves, no process can still let a call of the key through. */
export async function forgetKey(core: Core, keyId: string): Promise<void> {
  core.keys.drop(keyId);
  await core.processes.keyDropSettled();
}
