// Change marks of accounts: the account's sequence, which every commit of its wallet and every event advances, and its calls in this hour.
import { textArray } from '../../db/arrays.ts';
import type { Database } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';

interface MarkRow {
  readonly account_id: string;
  readonly mark: string;
}

const selectMarks = statement(
  'usage_select_marks',
  `/* fan-out: accounts whose pages are open, in one read */
   SELECT w.account_id, w.last_seq || '/' || coalesce(sum(u.request_count), 0) AS mark
     FROM core.wallet w
     LEFT JOIN core.usage_hour u ON u.account_id = w.account_id AND u.hour >= date_trunc('hour', core.clock_now(), 'UTC')
          AND NOT u.capability = ANY($2::text[])
    WHERE w.account_id = ANY($1::text[])
    GROUP BY w.account_id, w.last_seq`,
);

/** By account, a text that is another one once something has moved. Calls of `reads` count for nothing. */
export async function readMarks(
  db: Database,
  accountIds: readonly string[],
  reads: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await db.query<MarkRow>(selectMarks, [textArray(accountIds), textArray(reads)]);
  return new Map(rows.map(({ account_id, mark }) => [account_id, mark]));
}
