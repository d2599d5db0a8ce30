// Checks that an account has nothing of its own in this module but keys, credit and their usage.
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';

const findAny = statement(
  'account_find_any',
  `SELECT EXISTS (SELECT FROM core.webhook h WHERE h.account_id = $1)
          OR EXISTS (SELECT FROM core.webhook_receiver r WHERE r.account_id = $1)
          OR EXISTS (SELECT FROM core.payment_method m WHERE m.account_id = $1)
          OR EXISTS (SELECT FROM core.subscription s
                      WHERE s.account_id = $1 AND (s.status IN ('pending', 'active', 'past_due') OR s.wish IS NOT NULL)) AS found`,
);

export async function isEmpty(db: Queryable, accountId: string): Promise<boolean> {
  return (await db.query<{ found: boolean }>(findAny, [accountId])).rows[0]?.found === false;
}
