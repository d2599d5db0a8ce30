// Whether an account has nothing in this module.
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';

const findOne = statement('ai_find_any', 'SELECT 1 AS found FROM ai.batch WHERE account_id = $1 LIMIT 1');

export async function isEmpty(db: Queryable, accountId: string): Promise<boolean> {
  return (await db.query(findOne, [accountId])).rows.length === 0;
}
