// Retention: keys, pairs and decisions go after 30 days, list entries when they have expired.
import { mendEach, removeOldRows, type Sweep } from '../../core/background/sweeper/sweep.ts';
import { clockNow } from '../../core/database-clock.ts';
import { textArray } from '../../db/arrays.ts';
import { dropOldestPartition } from '../../db/partitions.ts';
import { type Statement, statement } from '../../db/statement.ts';
import { DAY_MS, startOfDay } from '../../lib/time.ts';
import { KEEP_DAYS } from './limits.ts';
import type { RiskState } from './state.ts';

const ACCOUNTS_PER_RUN = 200;
const ROWS_PER_TRANSACTION = 1_000;

/** Rows whose last day is before `$1`: accounts that have any, and the end of some. */
const kept = (table: string, keys: readonly string[]) => ({
  find: statement(
    `${table.replace('.', '_')}_find_old`,
    `/* fan-out: accounts with rows past retention */
     SELECT t.account_id FROM ${table} t WHERE t.last_day < $1 GROUP BY t.account_id LIMIT $2`,
  ),
  remove: statement(
    `${table.replace('.', '_')}_remove_old`,
    `WITH c AS MATERIALIZED (
       SELECT ${keys.map((key) => `w.${key}`).join(', ')} FROM ${table} w
        WHERE w.account_id = $1 AND w.last_day < $2 LIMIT $3 FOR UPDATE SKIP LOCKED)
     DELETE FROM ${table} t USING c WHERE t.account_id = $1 AND ${keys.map((key) => `t.${key} = c.${key}`).join(' AND ')}`,
  ),
});
const seen = [kept('risk.window', ['key']), kept('risk.pair', ['a', 'b'])];
const findExpired = statement(
  'risk_entry_find_expired',
  `/* fan-out: expired entries */
   SELECT e.account_id, e.entry AS id FROM risk.entry e WHERE e.expires_at <= core.clock_now() ORDER BY e.expires_at LIMIT $1`,
);
const removeExpired = statement(
  'risk_entry_remove_expired',
  'DELETE FROM risk.entry AS t WHERE t.account_id = $1 AND t.entry = ANY($2::text[]) AND t.expires_at <= core.clock_now()',
);

export function riskSweeps(state: RiskState): readonly Sweep[] {
  return [
    { name: 'risk.retention', intervalMs: 60_000, run: (signal) => forget(state, signal) },
    {
      ...{ name: 'risk.entries', intervalMs: 60_000 },
      run: removeOldRows<{ account_id: string; id: string }>(state.core.db, {
        ...{ find: findExpired, remove: removeExpired },
        keys: (rows) => [textArray(rows.map(({ id }) => id))],
      }),
    },
  ];
}

async function forget({ core: { db } }: RiskState, signal: AbortSignal): Promise<boolean> {
  const firstMs = startOfDay(await clockNow(db)) - KEEP_DAYS * DAY_MS;
  const dropped = await dropOldestPartition(db, ['risk.decision'], firstMs);
  let hasMore = dropped;
  for (const { find, remove } of seen) {
    const { rows } = await db.query<{ account_id: string }>(find, [firstMs / DAY_MS, ACCOUNTS_PER_RUN]);
    const finished = await mendEach(rows, signal, ({ account_id }) => removeAll(remove, account_id, firstMs / DAY_MS));
    hasMore ||= finished && rows.length === ACCOUNTS_PER_RUN;
  }
  return hasMore;

  async function removeAll(remove: Statement, accountId: string, firstDay: number): Promise<void> {
    for (let removed = ROWS_PER_TRANSACTION; removed === ROWS_PER_TRANSACTION && !signal.aborted; ) {
      removed = (await db.query(remove, [accountId, firstDay, ROWS_PER_TRANSACTION])).count;
    }
  }
}
