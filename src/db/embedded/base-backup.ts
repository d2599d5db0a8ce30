// Online backup of the embedded cluster by PostgreSQL's low-level base backup. Files are copied between pg_backup_start and pg_backup_stop, then
// the WAL written meanwhile, which makes them consistent as of the stop. A temporary replication slot keeps that WAL. It ends with the session,
// so a killed backup leaves nothing in the server.
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { withClient } from '../client.ts';
import { StartupError } from '../errors.ts';
import { type Connection, layoutOf } from './layout.ts';

export interface BaseBackup {
  readonly major: string;
  readonly startLsn: string;
  /** All that was committed before is in the copy. */
  readonly stopLsn: string;
  /** Of the cluster, also empty ones: the server wants them. */
  readonly folders: readonly string[];
}

/** Gets each file by its name in the cluster: where it lies, or its bytes. A file that is gone by then was dropped, and the WAL says so. */
export type TakeFile = (name: string, from: string | Buffer) => Promise<void>;

const FILES_AT_ONCE = 8;
const CONTROL = 'global/pg_control';
/** Folders whose content the server makes anew. */
const WITHOUT_CONTENT = /^(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\//;
/** Of the running server, of temporary tables, and settings that are written at every start. */
const LEFT_OUT =
  /^(postmaster\..*|backup_label.*|tablespace_map.*)$|(^|\/)(\..*|pg_internal\.init.*|pgsql_tmp.*|.*\.unfinished)$/;
const CONTROL_READS_MAX = 100;
const SEGMENTS_PER_LOG = 256;

/** Throws StartupError where the copy cannot be made whole. */
export async function copyCluster(connection: Connection, dataDir: string, take: TakeFile): Promise<BaseBackup> {
  const { cluster } = layoutOf(dataDir);
  return withClient({ ...connection, application_name: 'backup' }, async (client) => {
    await client.query('SELECT pg_create_physical_replication_slot($1, true, true)', [`backup_${process.pid}`]);
    const started = await client.query<{ lsn: string }>(`SELECT pg_backup_start('quartermaster', true)::text AS lsn`);
    const { files, folders } = await namesIn(cluster);
    const limit = pLimit(FILES_AT_ONCE);
    await Promise.all(files.map((name) => limit(() => take(name, join(cluster, name)))));
    await take(CONTROL, await readControl(join(cluster, CONTROL)));
    const stopped = await client.query<{ lsn: string; label: string; segment: string }>(
      'SELECT lsn::text, labelfile AS label, pg_walfile_name(lsn) AS segment FROM pg_backup_stop(false)',
    );
    const [{ lsn: startLsn } = { lsn: '' }] = started.rows;
    const [{ lsn: stopLsn, label, segment } = { lsn: '', label: '', segment: '' }] = stopped.rows;
    await take('backup_label', Buffer.from(label));
    const [, first = ''] = /^START WAL LOCATION: \S+ \(file ([0-9A-F]{24})\)/.exec(label) ?? [];
    for (const name of segmentsBetween(first, segment)) await takeSegment(cluster, name, take);
    return { major: readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim(), startLsn, stopLsn, folders };
  });
}

async function takeSegment(cluster: string, name: string, take: TakeFile): Promise<void> {
  try {
    await take(`pg_wal/${name}`, await readFile(join(cluster, 'pg_wal', name)));
  } catch (cause) {
    throw new StartupError(`the WAL segment ${name} of the backup cannot be copied: ${(cause as Error).message}`, {
      cause,
    });
  }
}

async function namesIn(cluster: string): Promise<{ files: string[]; folders: string[] }> {
  const entries = await readdir(cluster, { recursive: true, withFileTypes: true });
  const named = entries.map((entry) => ({ entry, name: join(entry.parentPath, entry.name).slice(cluster.length + 1) }));
  const outside = named.find(({ name }) => /^pg_tblspc\//.test(name));
  if (outside !== undefined) throw new StartupError('a database with tablespaces cannot be backed up by this command');
  const kept = named.filter(({ name }) => !LEFT_OUT.test(name));
  const isKept = (name: string) => !WITHOUT_CONTENT.test(name) && name !== CONTROL;
  return {
    files: kept.filter(({ entry, name }) => entry.isFile() && isKept(name)).map(({ name }) => name),
    folders: kept
      .filter(({ entry, name }) => entry.isDirectory() && (isKept(name) || name === 'pg_wal/archive_status'))
      .map(({ name }) => name),
  };
}

/** The server may write it meanwhile: two equal readings are whole. */
async function readControl(path: string): Promise<Buffer> {
  let before = await readFile(path);
  for (let reads = 0; reads < CONTROL_READS_MAX; reads++) {
    const now = await readFile(path);
    if (now.equals(before)) return now;
    before = now;
  }
  throw new StartupError(`${path} changes too often to be copied`);
}

/** Names of 24 hexadecimal digits: timeline, log, segment (of 16 MiB). */
function segmentsBetween(first: string, last: string): string[] {
  const number = (name: string) =>
    Number.parseInt(name.slice(8, 16), 16) * SEGMENTS_PER_LOG + Number.parseInt(name.slice(16), 16);
  const hex = (value: number) => value.toString(16).toUpperCase().padStart(8, '0');
  const count = number(last) - number(first) + 1;
  return Array.from({ length: count }, (_, i) => {
    const segment = number(first) + i;
    return `${first.slice(0, 8)}${hex(Math.floor(segment / SEGMENTS_PER_LOG))}${hex(segment % SEGMENTS_PER_LOG)}`;
  });
}
