// Removes the people of a purged account. A person who acts for another account stays there; anyone else is deleted.
import type { Database, Transaction } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { membershipsOf, membersOf, setHome } from './persons.ts';
import { endSessionsIn, endSessionsOf } from './sessions/sessions.ts';

const deleteMember = statement(
  'member_forget',
  'DELETE FROM core.member AS m WHERE m.person_id = $1 AND m.account_id = $2',
);
const deletePerson = statement('person_forget', 'DELETE FROM core.person AS p WHERE p.person_id = $1');
const deleteIdentities = statement('identity_forget', 'DELETE FROM core.identity AS i WHERE i.person_id = $1');
const moveIdentities = statement(
  'identity_move',
  'UPDATE core.identity AS i SET account_id = $3 WHERE i.person_id = $1 AND i.account_id = $2',
);

export async function forgetPeople(db: Database, accountId: string): Promise<void> {
  for (const { personId } of await membersOf(db, accountId)) {
    await db.transaction((tx) => leaveAccount(tx, personId, accountId));
  }
}

async function leaveAccount(tx: Transaction, personId: string, accountId: string): Promise<void> {
  const next = (await membershipsOf(tx, personId)).find((one) => one.accountId !== accountId);
  if (next === undefined) {
    await endSessionsOf(tx, personId);
    await tx.query(deleteIdentities, [personId]);
    await tx.query(deletePerson, [personId]);
  } else {
    await endSessionsIn(tx, personId, accountId);
    await tx.query(moveIdentities, [personId, accountId, next.accountId]);
    await setHome(tx, personId, next.accountId);
  }
  await tx.query(deleteMember, [personId, accountId]);
}
