// Re-check of the caller inside a write's transaction. A principal that was revoked or narrowed, or whose account was suspended, since the call
// began changes nothing. `enter` locks the account for the whole transaction; `confirmCaller` locks it only at the end.
import { textArray } from '../../db/arrays.ts';
import type { Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { type Problem, problem } from '../../problems/problem.ts';
import type { CallContext } from './context.ts';
import { lockWallet, type WalletState } from './lock.ts';
import { type LivePrincipal, readLivePrincipals } from './principal.ts';
import { shareRights } from './rights.ts';
import { isUnderOtherRules, rulesChanged } from './rules-version.ts';
import { scopesAllow } from './scopes.ts';

/** The caller as it is under the lock, and the time of the change. */
export interface Entry extends LivePrincipal {
  readonly nowMs: number;
}

/** Who calls, and what. */
export type Caller = Pick<CallContext<unknown>, 'accountId' | 'principal' | 'capability' | 'scope'>;

/** What a transaction of a call begins with: the account is locked, and its caller looked at again. */
export type Enter = (tx: Transaction) => Promise<Pick<Entry, 'nowMs'>>;

const readState = statement(
  'account_read_state',
  'SELECT suspended, rules_version FROM core.wallet WHERE account_id = $1',
);

/**
 * Locks the account and makes sure of its caller. `other`: a second account that is changed; both are locked in the order of their ids.
 * Throws INVALID_API_KEY or UNAUTHORIZED for a caller that has ended, ACCOUNT_SUSPENDED, INSUFFICIENT_SCOPE.
 */
export async function enter(tx: Transaction, call: Caller, other?: string): Promise<Entry> {
  const { accountId } = call;
  if (other !== undefined && other < accountId) await lockWallet(tx, other);
  const [wallet, caller] = await Promise.all([lockWallet(tx, accountId), readCaller(tx, call)]);
  if (other !== undefined && other > accountId) await lockWallet(tx, other);
  if (wallet === null) throw call.principal.kind.refusal('unknown');
  return { ...requireAllowed(call, caller, wallet), nowMs: wallet.nowMs };
}

/** The same for several calls of one account. `refusals`: why each of them changes nothing, as `enter` throws it; null: it may. */
export async function enterTogether(
  tx: Transaction,
  accountId: string,
  calls: readonly Caller[],
): Promise<{ readonly nowMs: number; readonly refusals: readonly (Problem | null)[] }> {
  const principals = calls.map(({ principal }) => principal);
  const [wallet, live] = await Promise.all([
    lockWallet(tx, accountId),
    readLivePrincipals(tx, textArray([accountId]), principals),
  ]);
  const refusals = calls.map((call) => {
    if (wallet === null) return call.principal.kind.refusal('unknown');
    return refusalOf(call, live.get(call.principal), wallet);
  });
  return { nowMs: wallet?.nowMs ?? 0, refusals };
}

/**
 * Makes sure of the caller as the last act of a transaction that did not enter the account. It waits for nobody but those who change
 * rights, so it closes no circle with whoever holds the wallet and waits for rows of this transaction. Throws as `enter`.
 */
export async function confirmCaller(tx: Transaction, call: Caller): Promise<void> {
  const [, { rows }, caller] = await Promise.all([
    shareRights(tx, call.accountId),
    tx.query<{ suspended: boolean; rules_version: bigint }>(readState, [call.accountId]),
    readCaller(tx, call),
  ]);
  const [row] = rows;
  const wallet = row === undefined ? null : { suspended: row.suspended, rulesVersion: row.rules_version };
  requireAllowed(call, caller, wallet);
}

async function readCaller(tx: Transaction, { accountId, principal }: Caller): Promise<LivePrincipal | undefined> {
  return (await readLivePrincipals(tx, textArray([accountId]), [principal])).get(principal);
}

/** The checks of a lane, in its order. */
function requireAllowed(call: Caller, caller: LivePrincipal | undefined, wallet: WalletState | null): LivePrincipal {
  const refusal = refusalOf(call, caller, wallet);
  if (refusal !== null) throw refusal;
  return caller as LivePrincipal;
}

function refusalOf(call: Caller, caller: LivePrincipal | undefined, wallet: WalletState | null): Problem | null {
  const { principal } = call;
  if (caller === undefined || caller.ended !== null || wallet === null)
    return principal.kind.refusal(caller?.ended ?? 'unknown');
  if (wallet.suspended) return problem('ACCOUNT_SUSPENDED');
  if (isUnderOtherRules(principal, wallet.rulesVersion)) return rulesChanged();
  return scopesAllow(caller.scopes, call.capability, call.scope) ? null : problem('INSUFFICIENT_SCOPE');
}
