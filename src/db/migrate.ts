// Forward-only migrations: numbered SQL files, each applied once, in order, in its own transaction, recorded with its checksum.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { withClient } from './client.ts';
import { StartupError } from './errors.ts';

export interface MigrationResult {
  /** The versions applied by this call, in order. */
  readonly applied: number[];
  /** The version of the schema now. */
  readonly version: number;
}

interface MigrationFile {
  readonly fileName: string;
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly text: string;
}

interface AppliedMigration {
  readonly version: number;
  readonly checksum: string;
}

const DIRECTORY = join(import.meta.dirname, '../../migrations');
const FILE_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/;
/** An arbitrary constant that no other user of the database is likely to lock. */
const LOCK_KEY = 7_265_118_801;
const LOCK_WAIT = '5min';
/** A migration that waits for a busy table makes everyone behind it wait too. */
const TABLE_LOCK_WAIT = '10s';

const CREATE_MIGRATIONS = `
  CREATE SCHEMA IF NOT EXISTS core;
  CREATE TABLE IF NOT EXISTS core.migration (
    version int PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
  )`;

// Tables that a file has made go to the nodes of a distributed engine.
const DISTRIBUTE = callIfDefined('core.distribute');
// On a distributed engine a transaction that has altered tables over several connections to a node can make no table there.
const ONE_CONNECTION_TO_A_NODE = `SET LOCAL citus.multi_shard_modify_mode = 'sequential'`;
// Accounts of a shard share commits: of few shards many do, and a cluster has no more nodes than shards. An operator may set another number.
const SHARD_COUNT = `SELECT set_config('citus.shard_count', '16', true) FROM pg_settings WHERE name = 'citus.shard_count' AND source = 'default'`;
// The planner learns what tables hold at their worst, when they are committed (migration 0001).
const SHOW_WORST_CASES = callIfDefined('core.show_worst_cases');

/**
 * Brings the schema to the version of the code. Of several processes one works and the others wait for it.
 * @param connection how to connect, or a session that is already open (it must not be in a transaction).
 * @throws StartupError when the schema is newer than the code, when an applied file was changed, or when a file fails.
 */
export async function migrate(
  connection: pg.ClientConfig | pg.Client,
  directory = DIRECTORY,
): Promise<MigrationResult> {
  const files = readMigrations(directory);
  const work = (client: pg.Client) => migrateSession(client, files);
  return connection instanceof pg.Client ? work(connection) : withClient(connection, work);
}

async function migrateSession(client: pg.Client, files: MigrationFile[]): Promise<MigrationResult> {
  const version = files.at(-1)?.version ?? 0;
  if (pendingOf(files, await readApplied(client)).length === 0 && !(await hasUnshownTables(client)))
    return { applied: [], version };
  await client.query(`SET lock_timeout = '${LOCK_WAIT}'`);
  await client.query(`SELECT pg_advisory_lock(${LOCK_KEY})`);
  try {
    await client.query(`SET lock_timeout = '${TABLE_LOCK_WAIT}'`);
    await client.query(CREATE_MIGRATIONS);
    const pending = pendingOf(files, await readApplied(client));
    for (const file of pending) await apply(client, file);
    await client.query(SHOW_WORST_CASES);
    return { applied: pending.map((file) => file.version), version };
  } finally {
    // A lost session has lost its lock too; the first error is the one to report.
    await client.query(`SELECT pg_advisory_unlock(${LOCK_KEY}); RESET lock_timeout`).catch(() => undefined);
  }
}

/** Whether whoever applied the files died before the planner knew their tables. */
async function hasUnshownTables(client: pg.Client): Promise<boolean> {
  const known = await client.query<{ found: boolean }>(`SELECT to_regclass('core.worst_case') IS NOT NULL AS found`);
  if (known.rows[0]?.found !== true) return false;
  return (await client.query('SELECT FROM core.worst_case WHERE NOT shown LIMIT 1')).rowCount === 1;
}

/** In order. Throws StartupError where one is missing between two. */
export function readMigrations(directory = DIRECTORY): MigrationFile[] {
  const names = readdirSync(directory).filter((name) => FILE_NAME.test(name));
  const files = names.sort().map((fileName) => {
    const [, version, name] = FILE_NAME.exec(fileName) as unknown as [string, string, string];
    const text = readFileSync(join(directory, fileName), 'utf8').replaceAll('\r\n', '\n');
    return {
      fileName,
      version: Number(version),
      name,
      checksum: createHash('sha256').update(text).digest('hex'),
      text,
    };
  });
  const gap = files.find((file, index) => file.version !== index + 1);
  if (gap !== undefined)
    throw new StartupError(`migration ${gap.version}_${gap.name} breaks the row 0001, 0002, … of files`);
  return files;
}

async function readApplied(client: pg.Client): Promise<AppliedMigration[]> {
  const migrations = await client.query<{ found: boolean }>(
    `SELECT to_regclass('core.migration') IS NOT NULL AS found`,
  );
  if (!migrations.rows[0]?.found) return [];
  const applied = await client.query<AppliedMigration>('SELECT version, checksum FROM core.migration ORDER BY version');
  return applied.rows;
}

function pendingOf(files: MigrationFile[], applied: AppliedMigration[]): MigrationFile[] {
  const newest = files.at(-1)?.version ?? 0;
  const checksums = new Map(applied.map((migration) => [migration.version, migration.checksum]));
  const database = applied.at(-1)?.version ?? 0;
  if (database > newest) {
    throw new StartupError(
      `the database has schema version ${database}, this release knows only ${newest}: run a newer release (there is no way back)`,
    );
  }
  const changed = files.find(({ version, checksum }) => checksums.has(version) && checksums.get(version) !== checksum);
  if (changed !== undefined) {
    throw new StartupError(
      `migration ${fileLabel(changed)} was changed after it was applied to this database, which therefore cannot be upgraded: run the code that it ran on until now, or start with an empty one (another DATA_DIR or DATABASE_URL). If you changed the file, restore it and put the change into a new one`,
    );
  }
  return files.filter(({ version }) => !checksums.has(version));
}

async function apply(client: pg.Client, file: MigrationFile): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query(ONE_CONNECTION_TO_A_NODE);
    await client.query(SHARD_COUNT);
    // Each alone: a distributed engine hands its nodes the whole text that an ALTER comes in, and they take one command.
    for (const command of commandsOf(file.text)) await client.query(command);
    await client.query(DISTRIBUTE);
    await client.query('INSERT INTO core.migration (version, name, checksum) VALUES ($1, $2, $3)', [
      file.version,
      file.name,
      file.checksum,
    ]);
    await client.query('COMMIT');
  } catch (cause) {
    await client.query('ROLLBACK').catch(() => undefined);
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new StartupError(`migration ${fileLabel(file)} failed and was rolled back: ${said}`, { cause });
  }
}

/** Calls a function that migration 0001 makes. */
function callIfDefined(name: string): string {
  return `DO $$ BEGIN IF to_regproc('${name}') IS NOT NULL THEN PERFORM ${name}(); END IF; END $$`;
}

function fileLabel({ version, name }: MigrationFile): string {
  return `${String(version).padStart(4, '0')}_${name}`;
}

// Comments, strings, quoted names, bodies in dollars; then the end of a command and everything else.
const PIECE =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"[^"]*"|\$((?:[A-Za-z_]\w*)?)\$[\s\S]*?\$\1\$|;|[^-/'"$;]+|[\s\S]/g;

/** The commands of `text`, in order, with the comments before each. Strings with backslashes (`E'\''`) and BEGIN ATOMIC are not read. */
export function commandsOf(text: string): string[] {
  const commands = [''];
  for (const [piece] of text.matchAll(PIECE)) {
    if (piece === ';') commands.push('');
    else commands.push((commands.pop() ?? '') + piece);
  }
  return commands.map((command) => command.trim()).filter((command) => command !== '');
}
