// Background work of error tracking: removal of data past retention.

import type { Sweep } from '../../core/background/sweeper/sweep.ts';
import { mendEach } from '../../core/background/sweeper/sweep.ts';
import { clockNow } from '../../core/database-clock.ts';
import { dropOldestPartition } from '../../db/partitions.ts';
import { type Statement, statement } from '../../db/statement.ts';
import { DAY_MS } from '../../lib/time.ts';
import { firstKeptDay } from './retention.ts';
import type { ErrorsState } from './state.ts';

const ACCOUNTS_PER_RUN = 200;
const ROWS_PER_TRANSACTION = 1_000;
// Events and their details go together.
const EVENT_TABLES = ['errors.event', 'errors.event_detail'];

const findOldDays = statement(
  'errors_find_old_days',
  `/* fan-out: accounts with day counters past retention */
   SELECT d.account_id FROM errors.day_count d WHERE d.group_id = 0 AND d.day < $1 GROUP BY d.account_id LIMIT $2`,
);
// The row of the whole account goes last: it is what the account is found by.
const removeOldDays = statement(
  'errors_remove_old_days',
  `WITH c AS MATERIALIZED (
     SELECT d.group_id, d.day, d.environment, d.level FROM errors.day_count d
      WHERE d.account_id = $1 AND d.group_id > 0 AND d.day < $2 LIMIT $3 FOR UPDATE SKIP LOCKED)
   DELETE FROM errors.day_count t USING c
    WHERE t.account_id = $1 AND t.group_id = c.group_id AND t.day = c.day AND t.environment = c.environment AND t.level = c.level`,
);
const removeOldTotals = statement(
  'errors_remove_old_totals',
  'DELETE FROM errors.day_count WHERE account_id = $1 AND group_id = 0 AND day < $2',
);

export function errorsSweeps(state: ErrorsState): readonly Sweep[] {
  return [{ name: 'errors.retention', intervalMs: 60_000, run: (signal) => forget(state, signal) }];
}

async function forget({ core }: ErrorsState, signal: AbortSignal): Promise<boolean> {
  const { db } = core;
  const nowMs = await clockNow(db);
  const firstDay = firstKeptDay(nowMs);
  const dropped = await dropOldestPartition(db, EVENT_TABLES, firstDay * DAY_MS);
  const { rows } = await db.query<{ account_id: string }>(findOldDays, [firstDay, ACCOUNTS_PER_RUN]);
  const removeAll = async (remove: Statement, accountId: string) => {
    for (let removed = ROWS_PER_TRANSACTION; removed === ROWS_PER_TRANSACTION && !signal.aborted; ) {
      removed = (await db.query(remove, [accountId, firstDay, ROWS_PER_TRANSACTION])).count;
    }
  };
  const finished = await mendEach(rows, signal, async ({ account_id }) => {
    await removeAll(removeOldDays, account_id);
    if (!signal.aborted) await db.query(removeOldTotals, [account_id, firstDay]);
  });
  return finished && (dropped || rows.length === ACCOUNTS_PER_RUN);
}
