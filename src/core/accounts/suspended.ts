// Finds the suspended accounts among many.
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';

const findSuspended = statement(
  'account_find_suspended',
  'SELECT w.account_id FROM core.wallet w WHERE w.account_id = ANY($1::text[]) AND w.suspended',
);

/** `accounts`: as a text array. */
export async function suspendedAmong(db: Queryable, accounts: Buffer): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ account_id: string }>(findSuspended, [accounts]);
  return new Set(rows.map(({ account_id }) => account_id));
}
