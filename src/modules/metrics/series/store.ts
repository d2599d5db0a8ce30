// SQL of series and metrics for ingest. Every statement is set-based over the accounts of a commit, whose wallets are locked.
import { boolArray, byteaArray, int4Array, textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { HOUR_MS } from '../../../lib/time.ts';
import type { MetricInfo } from '../intake/batch.ts';
import { idBytes, idOf, type SeriesIdentity } from './identity.ts';

export const hourOf = (ms: number) => Math.floor(ms / HOUR_MS);

/** What an account has, as it is under its lock. */
export interface AccountState {
  readonly hour: number;
  /** Series that were counted in this hour. */
  live: number;
  metrics: number;
}

export interface SeriesState {
  firstHour: number;
  lastHour: number;
  liveHour: number;
  total: number | null;
}

const selectAccounts = statement(
  'metrics_select_accounts',
  `SELECT w.account_id, core.clock_now() AS now, a.live_hour, a.live, a.metrics
     FROM core.wallet w LEFT JOIN metrics.account a ON a.account_id = ANY($1::text[]) AND a.account_id = w.account_id
    WHERE w.account_id = ANY($1::text[])`,
);
const selectSeries = statement(
  'metrics_select_known_series',
  `SELECT f.* FROM unnest($2::text[], $3::bytea[]) u(account_id, series_id),
          LATERAL (SELECT s.account_id, s.series_id, s.first_hour, s.last_hour, s.live_hour, s.total FROM metrics.series s
                    WHERE s.account_id = ANY($1::text[]) AND s.account_id = u.account_id AND s.series_id = u.series_id OFFSET 0) f`,
);
const selectMetrics = statement(
  'metrics_select_known_metrics',
  `SELECT f.* FROM unnest($2::text[], $3::text[]) u(account_id, name),
          LATERAL (SELECT m.account_id, m.name, m.is_series FROM metrics.metric m
                    WHERE m.account_id = ANY($1::text[]) AND m.account_id = u.account_id AND m.name = u.name OFFSET 0) f`,
);
const upsertSeries = statement(
  'metrics_upsert_series',
  `INSERT INTO metrics.series AS s (account_id, series_id, name, labels, first_hour, last_hour, live_hour, total)
   SELECT w.account_id, u.series_id, u.name, u.labels, u.first_hour, u.last_hour, u.live_hour, u.total
     FROM core.wallet w, unnest($2::text[], $3::bytea[], $4::text[], $5::text[], $6::integer[], $7::integer[], $8::integer[], $9::bytea[])
          u(account_id, series_id, name, labels, first_hour, last_hour, live_hour, total)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id, series_id) DO UPDATE
      SET first_hour = least(s.first_hour, excluded.first_hour), last_hour = greatest(s.last_hour, excluded.last_hour),
          live_hour = excluded.live_hour, total = coalesce(excluded.total, s.total)`,
);
const upsertMetrics = statement(
  'metrics_upsert_metrics',
  `INSERT INTO metrics.metric AS m (account_id, name, type, help, unit, is_series, seen_hour)
   SELECT w.account_id, u.name, u.type, u.help, u.unit, u.is_series, u.seen_hour
     FROM core.wallet w, unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::integer[])
          u(account_id, name, type, help, unit, is_series, seen_hour)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id, name) DO UPDATE
      SET type = coalesce(excluded.type, m.type), help = coalesce(excluded.help, m.help), unit = coalesce(excluded.unit, m.unit),
          is_series = m.is_series OR excluded.is_series, seen_hour = greatest(m.seen_hour, excluded.seen_hour)`,
);
const upsertAccounts = statement(
  'metrics_upsert_accounts',
  `INSERT INTO metrics.account AS a (account_id, live_hour, live, metrics)
   SELECT w.account_id, u.live_hour, u.live, u.metrics
     FROM core.wallet w, unnest($2::text[], $3::integer[], $4::integer[], $5::integer[]) u(account_id, live_hour, live, metrics)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id) DO UPDATE SET live_hour = excluded.live_hour, live = excluded.live, metrics = excluded.metrics`,
);

/** Of an account: a key of what is its own. */
export const keyOf = (accountId: string, id: string) => `${accountId}\n${id}`;

interface AccountRow {
  readonly account_id: string;
  readonly now: number;
  readonly live_hour: number | null;
  readonly live: number | null;
  readonly metrics: number | null;
}

export async function readAccounts(tx: Queryable, accounts: Buffer): Promise<Map<string, AccountState>> {
  const { rows } = await tx.query<AccountRow>(selectAccounts, [accounts]);
  return new Map(
    rows.map(({ account_id, now, live_hour, live, metrics }) => {
      const hour = hourOf(now);
      return [account_id, { hour, live: live_hour === hour ? (live ?? 0) : 0, metrics: metrics ?? 0 }];
    }),
  );
}

export interface Owned<Value> {
  readonly accountId: string;
  readonly value: Value;
}

interface SeriesRow {
  readonly account_id: string;
  readonly series_id: Buffer;
  readonly first_hour: number;
  readonly last_hour: number;
  readonly live_hour: number;
  readonly total: Buffer | null;
}

/** By `keyOf` account and ID. */
export async function readSeries(
  tx: Queryable,
  accounts: Buffer,
  ids: readonly Owned<string>[],
): Promise<Map<string, SeriesState>> {
  if (ids.length === 0) return new Map();
  const { rows } = await tx.query<SeriesRow>(selectSeries, [
    accounts,
    textArray(ids.map(({ accountId }) => accountId)),
    byteaArray(ids.map(({ value }) => idBytes(value))),
  ]);
  return new Map(
    rows.map(({ account_id, series_id, first_hour, last_hour, live_hour, total }) => [
      keyOf(account_id, idOf(series_id)),
      { firstHour: first_hour, lastHour: last_hour, liveHour: live_hour, total: total?.readDoubleLE(0) ?? null },
    ]),
  );
}

/** Whether a metric has series, by `keyOf` account and name. */
export async function readMetrics(
  tx: Queryable,
  accounts: Buffer,
  names: readonly Owned<string>[],
): Promise<Map<string, boolean>> {
  if (names.length === 0) return new Map();
  const { rows } = await tx.query<{ account_id: string; name: string; is_series: boolean }>(selectMetrics, [
    accounts,
    textArray(names.map(({ accountId }) => accountId)),
    textArray(names.map(({ value }) => value)),
  ]);
  return new Map(rows.map(({ account_id, name, is_series }) => [keyOf(account_id, name), is_series]));
}

export function sendSeries(
  tx: Queryable,
  accounts: Buffer,
  rows: readonly Owned<readonly [SeriesIdentity, SeriesState]>[],
): void {
  if (rows.length === 0) return;
  void tx.query(upsertSeries, [
    accounts,
    textArray(rows.map(({ accountId }) => accountId)),
    byteaArray(rows.map(({ value: [{ id }] }) => idBytes(id))),
    textArray(rows.map(({ value: [{ name }] }) => name)),
    textArray(rows.map(({ value: [{ labels }] }) => labels)),
    int4Array(rows.map(({ value: [, state] }) => state.firstHour)),
    int4Array(rows.map(({ value: [, state] }) => state.lastHour)),
    int4Array(rows.map(({ value: [, state] }) => state.liveHour)),
    byteaArray(rows.map(({ value: [, { total }] }) => (total === null ? null : numberBytes(total)))),
  ]);
}

function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

export interface SeenMetric extends MetricInfo {
  readonly isSeries: boolean;
  readonly seenHour: number;
}

export function sendMetrics(tx: Queryable, accounts: Buffer, rows: readonly Owned<SeenMetric>[]): void {
  if (rows.length === 0) return;
  void tx.query(upsertMetrics, [
    accounts,
    textArray(rows.map(({ accountId }) => accountId)),
    textArray(rows.map(({ value }) => value.name)),
    textArray(rows.map(({ value }) => value.type)),
    textArray(rows.map(({ value }) => value.help)),
    textArray(rows.map(({ value }) => value.unit)),
    boolArray(rows.map(({ value }) => value.isSeries)),
    int4Array(rows.map(({ value }) => value.seenHour)),
  ]);
}

export function sendAccounts(tx: Queryable, accounts: Buffer, states: ReadonlyMap<string, AccountState>): void {
  if (states.size === 0) return;
  const rows = [...states];
  void tx.query(upsertAccounts, [
    accounts,
    textArray(rows.map(([accountId]) => accountId)),
    int4Array(rows.map(([, { hour }]) => hour)),
    int4Array(rows.map(([, { live }]) => live)),
    int4Array(rows.map(([, { metrics }]) => metrics)),
  ]);
}
