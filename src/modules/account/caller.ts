// Permission checks for operations on API keys. They run under the account's lock and before any replay (contract §2). So no stored answer leaks
// to a key that may not have it, and a key revoked or narrowed meanwhile changes nothing.

import { requireMayHave } from '../../core/accounts/operator.ts';
import type { Entry } from '../../core/callers/enter.ts';
import type { LivePrincipal } from '../../core/callers/principal.ts';
import { scopesWithin } from '../../core/callers/scopes.ts';
import { forgetKeyHere } from '../../core/hear-siblings.ts';
import { runWrite, type WriteOptions } from '../../core/idempotency/write.ts';
import { secretInGrace } from '../../core/keys/api-key.ts';
import { findKey, type StoredKey } from '../../core/keys/store.ts';
import type { Transaction } from '../../db/database.ts';
import type { CallContext, Services } from '../../kit/services.ts';
import { problem } from './problems.ts';

export type Scopes = readonly string[] | null;

interface KeyChange extends WriteOptions {
  /** The key that the call is about. */
  readonly target?: string;
  /** What the call grants; undefined: nothing. */
  readonly scopes?: Scopes;
}

/**
 * Runs `change` as a write of the calling key. Throws INSUFFICIENT_SCOPE for a secret in its grace, and SCOPE_ESCALATION when
 * `scopes`, or those of the target, are not within the caller's. A target that does not exist passes: a replay is judged before
 * existence (contract §1).
 */
export function changeKeys(
  ctx: CallContext,
  { target, scopes, ...options }: KeyChange,
  change: (tx: Transaction, entry: Entry) => Promise<unknown>,
) {
  const admit = async (tx: Transaction, entry: Entry) => {
    if (!entry.isCurrent) throw secretInGrace();
    if (scopes !== undefined) {
      await requireMayHave(tx, ctx.accountId, scopes);
      requireWithin(ctx, entry, scopes, 'scopes');
    }
    const known = target === undefined ? null : await findKey(tx, ctx.accountId, target);
    if (known !== null) requireWithin(ctx, entry, known.scopes);
  };
  return runWrite(ctx, change, { ...options, admit });
}

function requireWithin(ctx: CallContext, caller: LivePrincipal, wanted: Scopes, param?: string): void {
  if (scopesWithin(ctx.core.knownScopes, wanted, caller.scopes)) return;
  const message =
    param === undefined
      ? 'The key to be changed may do more than the calling key.'
      : 'The calling key cannot grant scopes that it has not got.';
  throw problem('SCOPE_ESCALATION', { message, param });
}

/** Whoever gets a secret of a key that ends at `expiresAtMs` must not outlive itself by it. Throws EXPIRY_TOO_LATE. */
export function requireEndsWith(
  caller: LivePrincipal,
  expiresAtMs: number | null,
  param: 'expires_at' | 'key_id',
): void {
  const end = caller.expiresAtMs;
  if (end === null || (expiresAtMs !== null && expiresAtMs <= end)) return;
  const what = param === 'key_id' ? 'This key' : 'The new key';
  const message = `${what} would outlive the calling key, which expires at ${new Date(end).toISOString()}.`;
  throw problem('EXPIRY_TOO_LATE', { message, param });
}

/** A key with a spend cap hands out nothing that can spend: else it would be a way around its own cap. Throws SCOPE_ESCALATION. */
export function requireNoMoney(
  caller: LivePrincipal,
  capNanos: bigint | null | undefined,
  param: 'spend_cap_usd' | 'key_id',
): void {
  if (caller.cap === null || capNanos === 0n) return;
  throw problem('SCOPE_ESCALATION', {
    message:
      'The calling key has a spend cap: it may not change caps, and only hand out keys whose spend_cap_usd is 0.',
    detail: 'spend_cap',
    param,
  });
}

/** Whether the caller may get a new secret of `target`, itself included. Throws EXPIRY_TOO_LATE, SCOPE_ESCALATION. */
export function requireMayGetSecretOf(caller: LivePrincipal, target: StoredKey): void {
  if (target.keyId === caller.id) return;
  requireEndsWith(caller, target.expiresAtMs, 'key_id');
  requireNoMoney(caller, target.cap?.cap, 'key_id');
}

/** After the commit: when this resolves, no process can still let a call of the key through. */
export async function forgetKey(core: Services, keyId: string): Promise<void> {
  await Promise.all([forgetKeyHere(core, keyId), core.processes.keyDropInForce()]);
}
