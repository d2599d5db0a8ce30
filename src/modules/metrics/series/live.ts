// Live series of an account: the count that its tier limits.
import type { CountedLimit } from '../../../core/callers/tiers.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { seriesLimit } from '../limits.ts';
import { hourOf } from './store.ts';

const selectLive = statement(
  'metrics_select_live',
  'SELECT core.clock_now() AS now, a.live_hour, a.live FROM metrics.account a WHERE a.account_id = $1',
);

async function liveSeries(db: Queryable, accountId: string): Promise<number> {
  const { rows } = await db.query<{ now: number; live_hour: number; live: number }>(selectLive, [accountId]);
  const [row] = rows;
  return row !== undefined && row.live_hour === hourOf(row.now) ? row.live : 0;
}

export const metricsLimits: Readonly<Record<string, CountedLimit>> = {
  series: {
    description: 'Series of metrics with a sample since the last full hour (UTC).',
    used: liveSeries,
    ...seriesLimit,
  },
};
