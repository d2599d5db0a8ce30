// SQL of metric metadata by name: type, help text and unit.
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';

export interface MetricRow {
  readonly name: string;
  readonly type: string | null;
  readonly help: string | null;
  readonly unit: string | null;
}

const selectMetrics = statement(
  'metrics_select_metrics',
  `SELECT m.name, m.type, m.help, m.unit FROM metrics.metric m
    WHERE m.account_id = $1 AND m.name > $2 AND ($3::text IS NULL OR m.name = $3) AND (NOT $4 OR m.is_series) AND m.seen_hour >= $5
    ORDER BY m.name LIMIT $6`,
);

export interface MetricsAsked {
  /** Behind this one. */
  readonly after?: string;
  readonly name?: string;
  /** Only names that series have. */
  readonly ofSeries?: boolean;
  readonly sinceHour: number;
  readonly limit: number;
}

export async function metricsOf(
  db: Queryable,
  accountId: string,
  { after = '', name, ofSeries = false, sinceHour, limit }: MetricsAsked,
): Promise<MetricRow[]> {
  return (await db.query<MetricRow>(selectMetrics, [accountId, after, name ?? null, ofSeries, sinceHour, limit])).rows;
}
