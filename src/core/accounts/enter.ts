// How a write of an account begins: under the account's lock, whoever calls is looked at again. What ended meanwhile changes nothing.
import { textArray } from '../../db/arrays.ts';
import type { Transaction } from '../../db/database.ts';
import { problem } from '../../problems/problem.ts';
import type { CallContext } from '../context.ts';
import { type LivePrincipal, readLivePrincipals } from '../principal.ts';
import { scopesAllow } from '../scopes.ts';
import { lockAccount } from './accounts.ts';

/** Who calls as it is under the lock, and the time of the change. */
export interface Entry extends LivePrincipal {
  readonly nowMs: number;
}

/**
 * Locks the account and makes sure of who calls. `other`: a second account that is changed; whoever locks several does it in their
 * order. Throws INVALID_API_KEY or UNAUTHORIZED for who has ended, INSUFFICIENT_SCOPE.
 */
export async function enter(tx: Transaction, ctx: CallContext, other?: string): Promise<Entry> {
  const { accountId, principal } = ctx;
  if (other !== undefined && other < accountId) await lockAccount(tx, other);
  const [nowMs, live] = await Promise.all([
    lockAccount(tx, accountId),
    readLivePrincipals(tx, textArray([accountId]), [principal]),
  ]);
  if (other !== undefined && other > accountId) await lockAccount(tx, other);
  const caller = live.get(principal);
  if (nowMs === null || caller === undefined || caller.ended !== null)
    throw principal.kind.refusal(caller?.ended ?? 'unknown');
  if (!scopesAllow(caller.scopes, ctx.capability, ctx.scope)) throw problem('INSUFFICIENT_SCOPE');
  return { ...caller, nowMs };
}
