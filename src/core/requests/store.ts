// SQL of the request log and the audit log, which have the same columns: insert, read, delete.
import { boolArray, int2Array, int4Array, int8Array, textArray, timestampArray } from '../../db/arrays.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { dropOldestPartition, type Partitioned } from '../../db/partitions.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { sequenceAt } from '../../lib/sequence.ts';
import { DAY_MS, HOUR_MS } from '../../lib/time.ts';
import type { EntryForm } from '../callers/entry-form.ts';
import type { RequestRow } from './entry.ts';

/** Days that rows are kept, and rows of an account; the oldest go. */
export const REQUEST_DAYS = 7;
export const REQUESTS_KEPT = 20_000;
export const AUDIT_DAYS = 400;
export const AUDIT_KEPT = 200_000;

export type LogTable = 'core.request_log' | 'core.audit_log';

/** A row as it is read. */
export interface StoredRequest {
  readonly seq: bigint;
  readonly request_id: string;
  readonly trace_id: string;
  readonly capability: string;
  readonly method: string;
  readonly path: string;
  readonly entry_form: EntryForm;
  readonly caller_id: string;
  readonly status: number;
  readonly code: string | null;
  readonly message: string | null;
  readonly param: string | null;
  readonly latency_ms: number;
  readonly cost_nanos: bigint;
  readonly bytes_in: bigint | null;
  readonly bytes_out: bigint | null;
  readonly replay: boolean;
  readonly vendor: string | null;
  readonly input: string | null;
  readonly address: string | null;
}

/** Filters of a list. A filter that is null lets every value through. */
export interface RequestFilter {
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly outcome: 'failed' | 'slow' | 'all';
  readonly status: number | null;
  readonly code: string | null;
  readonly capability: string | null;
  readonly callerId: string | null;
  readonly entryForm: string | null;
  readonly traceId: string | null;
}

/** A call that takes as long is slow. */
export const SLOW_MS = 1_000;

const SEQ_MAX = 2n ** 63n - 1n;
const columns = `seq, request_id, trace_id, capability, method, path, entry_form, caller_id, status, code, message, param, latency_ms,
         cost_nanos, bytes_in, bytes_out, replay, vendor, input, address`;

const filtered = `($4::text = 'all' OR ($4 = 'failed' AND status >= 400) OR ($4 = 'slow' AND latency_ms >= ${SLOW_MS}))
      AND ($5::int IS NULL OR status = $5) AND ($6::text IS NULL OR code = $6) AND ($7::text IS NULL OR capability = $7)
      AND ($8::text IS NULL OR caller_id = $8) AND ($9::text IS NULL OR entry_form = $9) AND ($10::text IS NULL OR trace_id = $10)`;

const rowsSent = `SELECT w.account_id, u.seq, u.request_id, u.trace_id, u.capability, u.method, u.path, u.entry_form, u.caller_id, u.status, u.code,
              u.message, u.param, u.latency_ms, u.cost_nanos, u.bytes_in, u.bytes_out, u.replay, u.vendor, u.input, u.address
         FROM core.wallet w, unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
              $10::text[], $11::smallint[], $12::text[], $13::text[], $14::text[], $15::int[], $16::bigint[], $17::bigint[], $18::bigint[],
              $19::boolean[], $20::text[], $21::text[], $22::text[])
              u(account_id, seq, request_id, trace_id, capability, method, path, entry_form, caller_id, status, code, message, param,
                latency_ms, cost_nanos, bytes_in, bytes_out, replay, vendor, input, address)
        WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`;

const addRequests = statement(
  'request_log_add',
  `INSERT INTO core.request_log AS t (account_id, ${columns}) ${rowsSent} ON CONFLICT (account_id, seq) DO NOTHING`,
);
const addWrites = statement(
  'audit_log_add',
  `INSERT INTO core.audit_log AS t (account_id, ${columns}) ${rowsSent} ON CONFLICT (account_id, seq) DO NOTHING`,
);

function statementsOf(table: LogTable) {
  const name = table === 'core.request_log' ? 'request_log' : 'audit_log';
  const page = (order: 'ASC' | 'DESC') => `SELECT ${columns} FROM ${table}
    WHERE account_id = $1 AND seq >= $2 AND seq < $3 AND ${filtered} ORDER BY seq ${order} LIMIT $11`;
  return {
    newestFirst: statement(`${name}_page`, page('DESC')),
    oldestFirst: statement(`${name}_follow`, page('ASC')),
    one: statement(`${name}_one`, `SELECT ${columns} FROM ${table} WHERE account_id = $1 AND request_id = $2 LIMIT 1`),
    ofAnyAccount: statement(
      `${name}_of_any_account`,
      `/* fan-out: a request that somebody asks the operator about */
       SELECT account_id, ${columns} FROM ${table} WHERE request_id = $1 LIMIT 1`,
    ),
    trim: statement(
      `${name}_trim`,
      `DELETE FROM ${table} WHERE account_id = $1
          AND seq <= (SELECT t.seq FROM ${table} t WHERE t.account_id = $1 ORDER BY t.seq DESC OFFSET $2 LIMIT 1)`,
    ),
  };
}

const tables = {
  'core.request_log': statementsOf('core.request_log'),
  'core.audit_log': statementsOf('core.audit_log'),
};

const upsertUnkept = statement(
  'request_dropped_add',
  `INSERT INTO core.request_dropped AS d (account_id, hour, dropped, sampled_out)
   SELECT w.account_id, u.hour, u.dropped, u.sampled_out
     FROM core.wallet w, unnest($2::text[], $3::timestamptz[], $4::bigint[], $5::bigint[]) u(account_id, hour, dropped, sampled_out)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id, hour) DO UPDATE
       SET dropped = d.dropped + excluded.dropped, sampled_out = d.sampled_out + excluded.sampled_out`,
);
const sumUnkept = statement(
  'request_dropped_sum',
  `SELECT coalesce(sum(dropped), 0)::bigint AS dropped, coalesce(sum(sampled_out), 0)::bigint AS sampled_out FROM core.request_dropped
    WHERE account_id = $1 AND hour >= date_trunc('hour', $2::timestamptz, 'UTC') AND ($3::timestamptz IS NULL OR hour < $3)`,
);

const accountsOf = (rows: readonly { readonly accountId: string }[]) => [
  textArray([...new Set(rows.map(({ accountId }) => accountId))]),
  textArray(rows.map(({ accountId }) => accountId)),
];

export async function addRows(tx: Transaction, rows: readonly RequestRow[]): Promise<void> {
  const writes = rows.filter(({ isAudit }) => isAudit);
  await tx.query(addRequests, valuesOf(rows));
  if (writes.length > 0) await tx.query(addWrites, valuesOf(writes));
}

function valuesOf(rows: readonly RequestRow[]): Buffer[] {
  const texts = (of: (row: RequestRow) => string | null) => textArray(rows.map(of));
  const numbers = (of: (row: RequestRow) => number | null) =>
    int8Array(rows.map((row) => ((value) => (value === null ? null : BigInt(value)))(of(row))));
  return [
    ...accountsOf(rows),
    int8Array(rows.map(({ seq }) => seq)),
    ...[texts((row) => row.requestId), texts((row) => row.traceId), texts((row) => row.capability)],
    ...[texts((row) => row.method), texts((row) => row.path), texts((row) => row.entryForm)],
    ...[texts((row) => row.callerId), int2Array(rows.map(({ status }) => status))],
    ...[texts((row) => row.code), texts((row) => row.message), texts((row) => row.param)],
    int4Array(rows.map(({ latencyMs }) => latencyMs)),
    int8Array(rows.map(({ costNanos }) => costNanos)),
    ...[numbers((row) => row.bytesIn), numbers((row) => row.bytesOut), boolArray(rows.map(({ replay }) => replay))],
    ...[texts((row) => row.vendor), texts((row) => row.input), texts((row) => row.address)],
  ];
}

/** Calls that are not in the log. */
export interface Unkept {
  /** Failed and slow ones, and management writes, for want of room. */
  readonly dropped: number;
  /** Short ones of a busy second. */
  readonly sampledOut: number;
}

export async function addUnkept(
  tx: Transaction,
  counts: readonly (Unkept & { readonly accountId: string })[],
  nowMs: number,
): Promise<void> {
  const hourMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  await tx.query(upsertUnkept, [
    ...accountsOf(counts),
    timestampArray(counts.map(() => hourMs)),
    int8Array(counts.map(({ dropped }) => BigInt(dropped))),
    int8Array(counts.map(({ sampledOut }) => BigInt(sampledOut))),
  ]);
}

/** Calls that were not kept, in the hours of the period; `toMs` null: up to now. */
export async function unkeptIn(db: Queryable, accountId: string, fromMs: number, toMs: number | null): Promise<Unkept> {
  const values = [accountId, timestamp(fromMs), timestamp(toMs)];
  const [row] = (await db.query<{ dropped: bigint; sampled_out: bigint }>(sumUnkept, values)).rows;
  return { dropped: Number(row?.dropped ?? 0n), sampledOut: Number(row?.sampled_out ?? 0n) };
}

export interface ReadBounds {
  readonly table: LogTable;
  readonly filter: RequestFilter;
  readonly limit: number;
}

/** Rows before the number `before` (null: the newest), newest first. */
export async function requestsBefore(
  db: Queryable,
  accountId: string,
  before: bigint | null,
  { table, filter, limit }: ReadBounds,
): Promise<StoredRequest[]> {
  const end = filter.toMs === null ? SEQ_MAX : sequenceAt(filter.toMs);
  const until = before !== null && before < end ? before : end;
  const values = [accountId, sequenceAt(filter.fromMs ?? 0), until, ...filterValues(filter), limit];
  return (await db.query<StoredRequest>(tables[table].newestFirst, values)).rows;
}

/** Rows of the request log from the number `from` on, oldest first. */
export async function requestsFrom(
  db: Queryable,
  accountId: string,
  from: bigint,
  { filter, limit }: Omit<ReadBounds, 'table'>,
): Promise<StoredRequest[]> {
  const values = [accountId, from, SEQ_MAX, ...filterValues(filter), limit];
  return (await db.query<StoredRequest>(tables['core.request_log'].oldestFirst, values)).rows;
}

function filterValues({ outcome, status, code, capability, callerId, entryForm, traceId }: RequestFilter) {
  return [outcome, status, code, capability, callerId, entryForm, traceId];
}

/** In the request log, or in the audit log, which keeps longer. */
export async function findRequest(db: Queryable, accountId: string, requestId: string): Promise<StoredRequest | null> {
  for (const { one } of Object.values(tables)) {
    const [row] = (await db.query<StoredRequest>(one, [accountId, requestId])).rows;
    if (row !== undefined) return row;
  }
  return null;
}

/** A request of whatever account it is; null: it is not in the log. */
export async function requestOfAnyAccount(
  db: Queryable,
  requestId: string,
): Promise<(StoredRequest & { readonly account_id: string }) | null> {
  for (const { ofAnyAccount } of Object.values(tables)) {
    const [row] = (await db.query<StoredRequest & { account_id: string }>(ofAnyAccount, [requestId])).rows;
    if (row !== undefined) return row;
  }
  return null;
}

/** Removes what an account has beyond what is kept. */
export async function trim(db: Queryable, accountId: string): Promise<void> {
  await db.query(tables['core.request_log'].trim, [accountId, REQUESTS_KEPT]);
  await db.query(tables['core.audit_log'].trim, [accountId, AUDIT_KEPT]);
}

/** Drops the oldest day, and the oldest month, that are past their time; answers whether there was one. */
export async function dropOldRequests(db: Partitioned, nowMs: number): Promise<boolean> {
  const day = await dropOldestPartition(db, ['core.request_log'], nowMs - REQUEST_DAYS * DAY_MS);
  const month = await dropOldestPartition(db, ['core.audit_log'], nowMs - AUDIT_DAYS * DAY_MS);
  return day || month;
}
