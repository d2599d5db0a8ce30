// Checks whether an account has blocks of a kind, for the `isEmpty` of modules.
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';

const findBlock = statement(
  'block_any',
  'SELECT 1 AS found FROM core.block b WHERE b.account_id = $1 AND b.kind = $2 LIMIT 1',
);

export function noBlocksOf(kind: string): (db: Queryable, accountId: string) => Promise<boolean> {
  return async (db, accountId) => (await db.query(findBlock, [accountId, kind])).rows.length === 0;
}
