// How a module says that an account has nothing in it.
import type { Queryable } from '../../db/database.ts';
import type { Statement } from '../../db/statement.ts';

/** `find` answers a row of the account $1 if it has any. */
export function findsNothing(find: Statement): (db: Queryable, accountId: string) => Promise<boolean> {
  return async (db, accountId) => (await db.query(find, [accountId])).rows.length === 0;
}
