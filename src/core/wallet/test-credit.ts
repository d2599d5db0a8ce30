// Ends credit bought with test money when real money is accepted for the first time. The unspent rest expires at once, the held part when its
// holds settle.

import type { Database } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { lockAccount } from '../callers/lock.ts';
import { expireGrants } from './grants.ts';

const ACCOUNTS_AT_ONCE = 200;

const find = statement(
  'test_credit_find',
  `/* fan-out: accounts with credit of test money */
   SELECT account_id FROM core.credit_grant
    WHERE test_mode AND NOT spent AND (expires_at IS NULL OR expires_at > core.clock_now())
    GROUP BY account_id LIMIT $1`,
);
const end = statement(
  'test_credit_end',
  `UPDATE core.credit_grant SET expires_at = $2
    WHERE account_id = $1 AND test_mode AND NOT spent AND (expires_at IS NULL OR expires_at > $2)`,
);

/** Of all accounts. Answers how many had some. */
export async function endTestCredit(db: Database): Promise<number> {
  let ended = 0;
  for (;;) {
    const { rows } = await db.query<{ account_id: string }>(find, [ACCOUNTS_AT_ONCE]);
    for (const { account_id } of rows) {
      await db.transaction(async (tx) => {
        const nowMs = await lockAccount(tx, account_id);
        if (nowMs === null) return;
        await tx.query(end, [account_id, timestamp(nowMs)]);
        await expireGrants(tx, account_id);
      });
    }
    ended += rows.length;
    if (rows.length < ACCOUNTS_AT_ONCE) return ended;
  }
}
