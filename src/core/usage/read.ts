// Queries of account.usage and account.usage.timeseries, from the usage rows.

import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { usd } from '../../lib/money.ts';
import { iso } from '../../lib/time.ts';
import { bucketsOf, type Granularity, type Period } from './period.ts';

export interface UsageFilter {
  readonly capability: string | null;
  readonly keyId: string | null;
  /** `billed`: of the calls of the console only those that cost money. */
  readonly consoleCalls: 'all' | 'billed';
}

export type GroupBy = 'none' | 'capability' | 'key';

interface SumRow {
  readonly capability: string | null;
  readonly key_id: string | null;
  readonly grouped: number;
  readonly requests: bigint | null;
  readonly errors: bigint | null;
  readonly units: bigint | null;
  readonly spend: bigint | null;
}

// Bits of GROUPING(capability, key_id): set for what is summed over.
const BY_CAPABILITY = 1;
const BY_KEY = 2;
const TOTAL = 3;

const sumUsage = statement(
  'usage_sum',
  `SELECT capability, key_id, GROUPING(capability, key_id) AS grouped, sum(request_count) AS requests,
          sum(error_count) AS errors, sum(units) AS units, sum(spend_nanos) AS spend
     FROM core.usage_hour
    WHERE account_id = $1 AND hour >= $2 AND hour < $3
      AND ($4::text IS NULL OR capability = $4) AND ($5::text IS NULL OR key_id = $5)
      AND ($6::text = 'all' OR spend_nanos > 0 OR starts_with(key_id, 'key_'))
    GROUP BY GROUPING SETS ((capability), (key_id), ())
    ORDER BY spend DESC, requests DESC, capability, key_id`,
);
const readSeries = statement(
  'usage_series',
  `SELECT date_trunc($4::text, hour) AS ts,
          CASE $5::text WHEN 'capability' THEN capability WHEN 'key' THEN key_id END AS grp,
          sum(request_count) AS requests, sum(error_count) AS errors, sum(spend_nanos) AS spend
     FROM core.usage_hour
    WHERE account_id = $1 AND hour >= $2 AND hour < $3
      AND ($6::text IS NULL OR capability = $6) AND ($7::text IS NULL OR key_id = $7)
      AND ($8::text = 'all' OR spend_nanos > 0 OR starts_with(key_id, 'key_'))
    GROUP BY 1, 2`,
);

/** Sums of a period of whole hours, the costliest capabilities and keys first. */
export async function usageOf(db: Queryable, accountId: string, { fromMs, toMs }: Period, filter: UsageFilter) {
  const { rows } = await db.query<SumRow>(sumUsage, [
    accountId,
    timestamp(fromMs),
    timestamp(toMs),
    filter.capability,
    filter.keyId,
    filter.consoleCalls,
  ]);
  const total = rows.find((row) => row.grouped === TOTAL);
  return {
    period_start: iso(fromMs),
    period_end: iso(toMs),
    spend_usd: usd(total?.spend ?? 0n),
    request_count: Number(total?.requests ?? 0n),
    error_count: Number(total?.errors ?? 0n),
    by_capability: rows
      .filter((row) => row.grouped === BY_CAPABILITY)
      .map((row) => ({ capability: row.capability as string, ...figuresOf(row) })),
    by_key: rows
      .filter((row) => row.grouped === BY_KEY)
      .map((row) => ({ key_id: row.key_id as string, ...figuresOf(row) })),
  };
}

function figuresOf(row: SumRow) {
  return {
    count: Number(row.requests ?? 0n),
    error_count: Number(row.errors ?? 0n),
    units: Number(row.units ?? 0n),
    spend_usd: usd(row.spend ?? 0n),
  };
}

interface SeriesRow {
  readonly ts: number;
  readonly grp: string | null;
  readonly requests: bigint;
  readonly errors: bigint;
  readonly spend: bigint;
}

interface Sum {
  requests: bigint;
  errors: bigint;
  spend: bigint;
}

export interface SeriesQuery {
  readonly granularity: Granularity;
  readonly groupBy: GroupBy;
  readonly period: Period;
  readonly filter: UsageFilter;
}

/** More groups than this are summed up, so that an answer stays bounded. */
export const GROUPS_MAX = 50;
export const OTHER_GROUPS = '(other)';

/** Every bucket of the period for every group that occurs in it, zero where nothing happened; the one still running is `partial`. */
export async function usageSeries(
  db: Queryable,
  accountId: string,
  { granularity, groupBy, period, filter }: SeriesQuery,
  nowMs: number,
) {
  const { fromMs, toMs } = period;
  const { capability, keyId, consoleCalls } = filter;
  const values = [accountId, timestamp(fromMs), timestamp(toMs), granularity, groupBy, capability, keyId, consoleCalls];
  const { rows } = await db.query<SeriesRow>(readSeries, values);
  const shown = groupBy === 'none' ? [null] : shownGroups(rows);
  const sums = sumByPoint(rows, new Set(shown));
  const starts = bucketsOf(granularity, period);
  const items = starts.flatMap((ts, i) => {
    const end = starts[i + 1] ?? toMs;
    return shown.map((group) => ({
      at: iso(ts),
      ...pointFigures(sums.get(pointId(ts, group))),
      group,
      ...(end > nowMs ? { partial: true } : {}),
    }));
  });
  return { granularity, group_by: groupBy, period_start: iso(fromMs), period_end: iso(toMs), items };
}

/** The costliest groups first; the rest as one. */
function shownGroups(rows: readonly SeriesRow[]): (string | null)[] {
  const totals = new Map<string | null, Sum>();
  for (const row of rows) add(totals, row.grp, row);
  const order = (a: bigint, b: bigint) => (a === b ? 0 : a > b ? -1 : 1);
  const sorted = [...totals].sort(
    ([a, x], [b, y]) => order(x.spend, y.spend) || order(x.requests, y.requests) || ((a ?? '') < (b ?? '') ? -1 : 1),
  );
  const groups = sorted.map(([group]) => group);
  return groups.length <= GROUPS_MAX ? groups : [...groups.slice(0, GROUPS_MAX), OTHER_GROUPS];
}

function sumByPoint(rows: readonly SeriesRow[], shown: ReadonlySet<string | null>): Map<string | null, Sum> {
  const sums = new Map<string | null, Sum>();
  for (const row of rows) add(sums, pointId(row.ts, shown.has(row.grp) ? row.grp : OTHER_GROUPS), row);
  return sums;
}

function add(sums: Map<string | null, Sum>, id: string | null, row: Sum): void {
  const sum = sums.get(id) ?? { requests: 0n, errors: 0n, spend: 0n };
  sum.requests += row.requests;
  sum.errors += row.errors;
  sum.spend += row.spend;
  sums.set(id, sum);
}

function pointId(ts: number, group: string | null): string {
  return `${ts}\n${group ?? ''}`;
}

function pointFigures(sum: Sum | undefined) {
  return {
    spend_usd: usd(sum?.spend ?? 0n),
    request_count: Number(sum?.requests ?? 0n),
    error_count: Number(sum?.errors ?? 0n),
  };
}
