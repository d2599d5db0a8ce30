// Checks the approver again when the device fetches its key. A removed member, or a key that was revoked or narrowed since, grants nothing.

import { operatorAccount } from '../../core/accounts/operator.ts';
import type { Principal } from '../../core/callers/principal.ts';
import { scopesAllow, scopesWithin } from '../../core/callers/scopes.ts';
import type { Core } from '../../core/core.ts';
import { findKey } from '../../core/keys/store.ts';
import type { Queryable } from '../../db/database.ts';
import { membersOf } from '../persons.ts';

/** What was approved: for which account, by whom, and what of it. */
export interface Word {
  readonly accountId: string;
  readonly approvedBy: string;
  readonly scopes: readonly string[];
}

export function mayMakeKeys(scopes: Principal['scopes']): boolean {
  return scopesAllow(scopes, 'account.keys.create', 'admin');
}

/** Whether the word still holds. That a person has signed out since changes nothing of it. */
export async function mayStillApprove(
  tx: Queryable,
  { knownScopes }: Pick<Core, 'knownScopes'>,
  { accountId, approvedBy, scopes }: Word,
): Promise<boolean> {
  const member = (await membersOf(tx, accountId)).find(({ personId }) => personId === approvedBy);
  if (member !== undefined) return member.role === 'owner';
  const key = await findKey(tx, accountId, approvedBy);
  // Nobody takes the operator's account away from the operator.
  if (key === null) return approvedBy.startsWith('sess_') && (await operatorAccount(tx)) === accountId;
  const lives = key.status === 'active' || key.status === 'rotating';
  return lives && mayMakeKeys(key.scopes) && scopesWithin(knownScopes, scopes, key.scopes);
}
