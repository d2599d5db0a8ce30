// Removes a person from an account, or lets one leave it. The person's sessions in it, and the invitations they gave, end with the membership.

import { lockAccount } from '../core/callers/lock.ts';
import type { Transaction } from '../db/database.ts';
import { lockPersons, membershipsOf, removeMember, setHome } from './persons.ts';
import { endSessionsIn } from './sessions/sessions.ts';
import { endInvitationsOf } from './sign-in/invitations.ts';

/** The person acts for the account no more, nor does anything that they began. False, and nothing changed: nobody would own it then. */
export async function removePerson(tx: Transaction, accountId: string, personId: string): Promise<boolean> {
  // Account, person, membership: whoever changes several of these locks them in this order.
  await lockAccount(tx, accountId);
  await lockPersons(tx, [personId]);
  if (!(await removeMember(tx, accountId, personId))) return false;
  await endSessionsIn(tx, personId, accountId);
  await endInvitationsOf(tx, accountId, personId);
  const [next] = await membershipsOf(tx, personId);
  if (next !== undefined) await setHome(tx, personId, next.accountId);
  return true;
}
