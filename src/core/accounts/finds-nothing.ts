// How a module says that an account has nothing in it.
import type { Queryable } from '../../db/database.ts';
import type { Statement } from '../../db/statement.ts';

/** Whether an account has no row. `find` selects one row, any, that belongs to the account $1. */
export function findsNothing(find: Statement): (db: Queryable, accountId: string) => Promise<boolean> {
  return async (db, accountId) => (await db.query(find, [accountId])).rows.length === 0;
}
