// Deletes series and metrics that have no samples within the account's retention. None of their names or labels remains.
import { mendEach, type Sweep } from '../../../core/background/sweeper/sweep.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { statement } from '../../../db/statement.ts';
import { DAY_MS } from '../../../lib/time.ts';
import type { MetricsState } from '../state.ts';
import { hourOf } from './store.ts';

const ACCOUNTS_PER_RUN = 200;
const ROWS_PER_TRANSACTION = 2_000;

const findOld = statement(
  'metrics_find_old',
  `/* fan-out: accounts with series or metrics that were not seen for a day */
   SELECT a.account_id FROM metrics.account a
    WHERE a.account_id > $1
      AND (EXISTS (SELECT 1 FROM metrics.series s WHERE s.account_id = a.account_id AND greatest(s.last_hour, s.live_hour) < $2)
        OR EXISTS (SELECT 1 FROM metrics.metric m WHERE m.account_id = a.account_id AND m.seen_hour < $2))
    ORDER BY a.account_id LIMIT $3`,
);
const removeSeries = statement(
  'metrics_remove_old_series',
  `WITH c AS MATERIALIZED (
     SELECT s.series_id FROM metrics.series s
      WHERE s.account_id = $1 AND greatest(s.last_hour, s.live_hour) < $2 LIMIT $3 FOR UPDATE SKIP LOCKED)
   DELETE FROM metrics.series t USING c WHERE t.account_id = $1 AND t.series_id = c.series_id`,
);
const removeMetrics = statement(
  'metrics_remove_old_metrics',
  `WITH c AS MATERIALIZED (
     SELECT m.name FROM metrics.metric m WHERE m.account_id = $1 AND m.seen_hour < $2 LIMIT $3 FOR UPDATE SKIP LOCKED)
   DELETE FROM metrics.metric t USING c WHERE t.account_id = $1 AND t.name = c.name`,
);
const countMetrics = statement(
  'metrics_count_metrics',
  `UPDATE metrics.account a SET metrics = (SELECT count(*)::integer FROM metrics.metric m WHERE m.account_id = $1)
    WHERE a.account_id = $1`,
);

export function forgetSweep({ core, store }: MetricsState): Sweep {
  const { db } = core;
  let after = '';
  return {
    name: 'metrics.forget',
    intervalMs: 60_000,
    async run(signal) {
      const newestHour = hourOf((await clockNow(db)) - DAY_MS);
      const { rows } = await db.query<{ account_id: string }>(findOld, [after, newestHour, ACCOUNTS_PER_RUN]);
      after = rows.length === ACCOUNTS_PER_RUN ? (rows.at(-1)?.account_id ?? '') : '';
      const finished = await mendEach(rows, signal, async ({ account_id }) => {
        const firstHour = hourOf(await store.firstKeptMs(account_id));
        const removeAll = async (remove: typeof removeSeries) => {
          for (let removed = ROWS_PER_TRANSACTION; removed === ROWS_PER_TRANSACTION && !signal.aborted; ) {
            removed = (await db.query(remove, [account_id, firstHour, ROWS_PER_TRANSACTION])).count;
            total += removed;
          }
        };
        let total = 0;
        await removeAll(removeSeries);
        await removeAll(removeMetrics);
        if (total > 0) await db.query(countMetrics, [account_id]);
      });
      return finished && rows.length === ACCOUNTS_PER_RUN;
    },
  };
}
