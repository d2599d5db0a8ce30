// Tables partitioned by sequence number, by hour, UTC day or month (core.partitioned). A sweep creates partitions ahead. A transaction that
// meets a missing one is rolled back, creates it without its locks, and runs again. Attaching an empty table takes a lock that does not block
// inserts. Dropping one blocks everything for an instant, so it gives up quickly and retries.
import { sequenceAt, sequenceMs } from '../lib/sequence.ts';
import { DAY_MS, HOUR_MS, startOfDay, startOfMonth, startOfNextMonth } from '../lib/time.ts';
import { sqlState } from './errors.ts';
import { statement } from './statement.ts';
import type { Queryable, Transaction } from './transaction.ts';

/** What can run transactions. */
export interface Partitioned extends Queryable {
  transaction<T>(body: (tx: Transaction) => Promise<T>): Promise<T>;
}

type Period = 'hour' | 'day' | 'month';

// Hours, days or months ahead of the running one.
const PERIODS_AHEAD = 2;

const listTables = statement('partition_list_tables', 'SELECT parent, period FROM core.partitioned ORDER BY parent');
const listPartitions = statement(
  'partition_list',
  `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = $1::text::regclass ORDER BY 1`,
);
const waitBriefly = statement('partition_wait_briefly', `SET LOCAL lock_timeout = '250ms'`);

/** Makes those that are missing for the period of `nowMs` and the next two. */
export async function makePartitionsAhead(db: Partitioned, nowMs: number): Promise<void> {
  const { rows } = await db.query<{ parent: string; period: Period }>(listTables, []);
  for (const { parent, period } of rows) {
    const starts = [startOf(period, nowMs)];
    while (starts.length <= PERIODS_AHEAD) starts.push(nextStart(period, starts.at(-1) as number));
    await makePartitions(db, parent, period, starts);
  }
}

/** Makes those of the days that begin at `startsMs`, where they are missing. */
export function makeDayPartitions(db: Partitioned, parent: string, startsMs: readonly number[]): Promise<void> {
  return makePartitions(db, parent, 'day', startsMs);
}

/** Makes the partition that an insert missed. False when the error tells of something else. */
export async function makeMissedPartition(db: Partitioned, error: unknown): Promise<boolean> {
  const missed = missedPartition(error);
  if (missed === null) return false;
  const { rows } = await db.query<{ parent: string; period: Period }>(listTables, []);
  const tables = rows.filter(({ parent }) => missed.parent === null || missed.parent === parent);
  for (const { parent, period } of tables)
    await makePartitions(db, parent, period, [startOf(period, sequenceMs(missed.seq))]);
  return tables.length > 0;
}

/** Drops the oldest partition of each parent that ends at or before `beforeMs`, all of them at once; answers whether there was one. */
export async function dropOldestPartition(
  db: Partitioned,
  parents: readonly string[],
  beforeMs: number,
): Promise<boolean> {
  const old = await oldestPartition(db, parents, beforeMs);
  if (old === null) return false;
  await dropPartitions(db, parents, old.suffix);
  return true;
}

/** Drops one partition of each parent, all of them at once; those that are gone already are passed over. */
export async function dropPartitions(db: Partitioned, parents: readonly string[], suffix: string): Promise<void> {
  const names = parents.map((parent) => `${parent}_${suffix}`);
  await db.transaction(async (tx) => {
    await tx.query(waitBriefly, []);
    await tx.query(unnamedStatement(`DROP TABLE IF EXISTS ${names.join()}`), []);
  });
}

/** The oldest partition of any of the parents that ends at or before `beforeMs`. */
export async function oldestPartition(
  db: Queryable,
  parents: readonly string[],
  beforeMs: number,
): Promise<{ readonly suffix: string; readonly startMs: number; readonly endMs: number } | null> {
  const lists = await Promise.all(parents.map((parent) => db.query<{ name: string }>(listPartitions, [parent])));
  const suffixes = lists.flatMap(({ rows }) => rows.map(({ name }) => name.slice(name.lastIndexOf('_') + 1)));
  const [suffix] = suffixes.sort();
  if (suffix === undefined) return null;
  const period = periodOfDigits[suffix.length] as Period;
  const [year, month, day, hour] = [suffix.slice(0, 4), suffix.slice(4, 6), suffix.slice(6, 8), suffix.slice(8)];
  const startMs = Date.UTC(Number(year), Number(month) - 1, Number(day || 1), Number(hour));
  const endMs = nextStart(period, startMs);
  return endMs <= beforeMs ? { suffix, startMs, endMs } : null;
}

async function makePartitions(
  db: Partitioned,
  parent: string,
  period: Period,
  starts: readonly number[],
): Promise<void> {
  const { rows } = await db.query<{ name: string }>(listPartitions, [parent]);
  const known = new Set(rows.map(({ name }) => name));
  if (starts.every((startMs) => known.has(nameOf(parent, period, startMs).split('.')[1] as string))) return;
  await db.transaction(async (tx) => {
    // One at a time, and those that meanwhile another made are seen.
    await tx.query(unnamedStatement(`LOCK TABLE ${parent} IN SHARE UPDATE EXCLUSIVE MODE`), []);
    const there = new Set((await tx.query<{ name: string }>(listPartitions, [parent])).rows.map(({ name }) => name));
    for (const startMs of starts) {
      const name = nameOf(parent, period, startMs);
      if (there.has(name.split('.')[1] as string)) continue;
      await tx.query(unnamedStatement(`CREATE TABLE ${name} (LIKE ${parent} INCLUDING ALL)`), []);
      const bounds = `FROM (${sequenceAt(startMs)}) TO (${sequenceAt(nextStart(period, startMs))})`;
      await tx.query(unnamedStatement(`ALTER TABLE ${parent} ATTACH PARTITION ${name} FOR VALUES ${bounds}`), []);
    }
  });
}

/** The number that had no place, and in which table; null: a distributed engine passes on the words of a worker, about a part of it. */
function missedPartition(error: unknown): { readonly parent: string | null; readonly seq: bigint } | null {
  if (sqlState(error) !== '23514') return null;
  const { routine, schema, table, detail } = error as Record<
    'routine' | 'schema' | 'table' | 'detail',
    string | undefined
  >;
  const seq = /= \((-?\d+)\)\.$/.exec(detail ?? '')?.[1];
  if (seq === undefined) return null;
  if (routine === 'ReportResultError') return { parent: null, seq: BigInt(seq) };
  if (routine !== 'ExecFindPartition') return null;
  // At the node that has its rows it is a part of the table, by name the table and a number.
  return { parent: `${schema}.${table}`.replace(/_\d+$/, ''), seq: BigInt(seq) };
}

function startOf(period: Period, ms: number): number {
  if (period === 'month') return startOfMonth(ms);
  return period === 'day' ? startOfDay(ms) : Math.floor(ms / HOUR_MS) * HOUR_MS;
}

function nextStart(period: Period, startMs: number): number {
  if (period === 'month') return startOfNextMonth(startMs);
  return startMs + (period === 'day' ? DAY_MS : HOUR_MS);
}

const digitsOf: Readonly<Record<Period, number>> = { hour: 10, day: 8, month: 6 };
const periodOfDigits: Readonly<Record<number, Period>> = { 10: 'hour', 8: 'day', 6: 'month' };

/** `core.ledger_202612`, `errors.event_20261231`, `realtime.message_2026123123`. */
function nameOf(parent: string, period: Period, startMs: number): string {
  return `${parent}_${new Date(startMs).toISOString().replaceAll(/\D/g, '').slice(0, digitsOf[period])}`;
}

/** A statement of one partition is not worth remembering on a connection. */
function unnamedStatement(text: string) {
  return statement('', text);
}
