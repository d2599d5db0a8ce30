// Copies all rows of one database into another of the same schema, table by table. One server writes a file, the other reads it. Partitions are
// created as in the source. Nothing else may use either database.
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { StartupError } from '../../errors.ts';

export interface Side {
  readonly client: pg.Client;
  readonly cluster: string;
  /** The cluster's folder as its server names it. */
  readonly pgdata: string;
}

export interface Copied {
  readonly tables: number;
  readonly rows: number;
}

interface Table {
  readonly name: string;
  readonly kind: 'r' | 'p';
  readonly columns: string;
  /** Of a partition; null: it is none. */
  readonly bound: string | null;
  readonly parent: string | null;
  /** By what it is partitioned itself. */
  readonly key: string | null;
  readonly options: string | null;
}

const TABLES = `
  SELECT c.oid::regclass::text AS name, c.relkind AS kind,
         (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
           WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
         CASE WHEN c.relispartition THEN pg_get_expr(c.relpartbound, c.oid) END AS bound,
         (SELECT i.inhparent::regclass::text FROM pg_inherits i WHERE i.inhrelid = c.oid) AS parent,
         CASE WHEN c.relkind = 'p' THEN pg_get_partkeydef(c.oid) END AS key,
         array_to_string(c.reloptions, ', ') AS options
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.relkind IN ('r', 'p') AND c.relpersistence <> 't' AND n.nspname !~ '^(pg_|information_schema$)'
   ORDER BY c.oid`;
/** Names come with their schema. Rows are taken as they are: their rules were kept where they come from. */
const SESSION = `SET search_path = ''; SET statement_timeout = 0; SET lock_timeout = 0; SET synchronize_seqscans = off;
  SET session_replication_role = replica`;
const FILE = 'quartermaster-copy';

/** Throws StartupError when the two schemas differ, or when not every row arrived. */
export async function copyRows(from: Side, to: Side): Promise<Copied> {
  await Promise.all([from.client.query(SESSION), to.client.query(SESSION)]);
  const tables = await tablesOf(from.client);
  await makePartitions(tables, to.client);
  const stored = tables.filter(({ kind }) => kind === 'r');
  requireSame(
    stored,
    (await tablesOf(to.client)).filter(({ kind }) => kind === 'r'),
  );
  await to.client.query(`TRUNCATE ${stored.map(({ name }) => name).join(', ')}`);
  let rows = 0;
  for (const table of stored) rows += await copyTable(table, from, to);
  await copySequences(from.client, to.client);
  await to.client.query('ANALYZE');
  return { tables: stored.length, rows };
}

async function tablesOf(client: pg.Client): Promise<Table[]> {
  return (await client.query<Table>(TABLES)).rows;
}

/** In the order in which they were made, so that each comes after its parent. */
async function makePartitions(tables: readonly Table[], to: pg.Client): Promise<void> {
  for (const { name, bound } of await tablesOf(to))
    if (bound !== null) await to.query(`DROP TABLE IF EXISTS ${name} CASCADE`);
  for (const { name, bound, parent, key, options } of tables) {
    if (bound === null) continue;
    const by = key === null ? '' : ` PARTITION BY ${key}`;
    const having = options === null ? '' : ` WITH (${options})`;
    await to.query(`CREATE TABLE ${name} PARTITION OF ${parent} ${bound}${by}${having}`);
  }
}

function requireSame(from: readonly Table[], to: readonly Table[]): void {
  const known = new Map(to.map(({ name, columns }) => [name, columns]));
  const sortedColumns = (columns: string | undefined) => columns?.split(', ').sort().join();
  const other = from.find(({ name, columns }) => sortedColumns(known.get(name)) !== sortedColumns(columns));
  if (other === undefined && from.length === to.length) return;
  throw new StartupError(
    `the database holds a table that this release does not know: ${other?.name ?? 'one is missing'}`,
  );
}

async function copyTable({ name, columns }: Table, from: Side, to: Side): Promise<number> {
  const [out, into] = [join(from.cluster, FILE), join(to.cluster, FILE)];
  const path = ({ client, pgdata }: Side) => client.escapeLiteral(`${pgdata}/${FILE}`);
  try {
    const { rowCount } = await from.client.query(`COPY ${name} (${columns}) TO ${path(from)}`);
    renameSync(out, into);
    const copied = await to.client.query(`COPY ${name} (${columns}) FROM ${path(to)}`);
    if (copied.rowCount === rowCount) return rowCount ?? 0;
    throw new StartupError(`${name} has ${rowCount} rows, and ${copied.rowCount} were copied`);
  } finally {
    for (const file of [out, into]) rmSync(file, { force: true });
  }
}

async function copySequences(from: pg.Client, to: pg.Client): Promise<void> {
  const { rows } = await from.query<{ name: string; last: string }>(
    `SELECT format('%I.%I', schemaname, sequencename) AS name, last_value::text AS last FROM pg_sequences WHERE last_value IS NOT NULL`,
  );
  for (const { name, last } of rows) await to.query('SELECT setval($1::regclass, $2::bigint)', [name, last]);
}
