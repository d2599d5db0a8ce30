// The service's own PostgreSQL, for when no DATABASE_URL is given: a real server, durable, started and supervised by us.
// It listens on a Unix socket in a directory that only its user may enter (loopback on Windows), with a random password.

import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locateBinaries, type Major } from './binaries.ts';
import { ensureCluster, ensureDatabase, giveTo, writeSettings } from './cluster.ts';
import { cannotUse } from './failure.ts';
import {
  type Connection,
  type ConnectionRecord,
  createHome,
  type Layout,
  layoutOf,
  readConnectionRecord,
  writeConnectionRecord,
} from './layout.ts';
import { takeServiceLock } from './lock.ts';
import { chooseOwner, type Owner } from './owner.ts';
import { findPostmaster } from './pid-file.ts';
import { fingerprintOf } from './settings.ts';
import { type EmbeddedLog, type EmbeddedState, Supervisor } from './supervisor.ts';
import { startWalPreparation } from './wal.ts';

export type { Connection } from './layout.ts';
export type { EmbeddedLog, EmbeddedState } from './supervisor.ts';

/** `create` comes with the first start only. */
export type EmbeddedStep = 'create' | 'start';

export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly major?: Major;
  readonly log?: EmbeddedLog;
  /** Hears what is done now. */
  readonly onStep?: (step: EmbeddedStep) => void;
}

export interface EmbeddedPostgres {
  readonly connection: Connection;
  /** Of the server as it runs now; a restart changes it. */
  readonly pid: number;
  /** `restarting` from the server's unexpected death until it accepts connections again. */
  readonly state: EmbeddedState;
  /** Resolves with the exit code once the server was stopped for good by `stop`. */
  readonly exited: Promise<number | null>;
  /** Fast shutdown, at most 25 s; then lets go of the data directory. Calling it again changes nothing. */
  stop(): Promise<void>;
}

const DATABASE = 'quartermaster';
const USER = 'quartermaster';
const UNIX_PORT = 5432;
const SOCKET_PATH_BYTES_MAX = 103;
const PASSWORD_BYTES = 24;
const SILENT: EmbeddedLog = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Starts PostgreSQL under `dataDir`/postgres, making the cluster first where there is none.
 * @throws StartupError with one line for the operator: directory in use, full, not writable, of another major version.
 */
export async function startEmbedded({
  dataDir,
  major = 18,
  log = SILENT,
  onStep = () => undefined,
}: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const layout = layoutOf(dataDir);
  createHome(layout);
  const lock = takeServiceLock(layout);
  try {
    const { connection, supervisor } = await start(layout, major, log, onStep);
    const preparation = startWalPreparation(layout, connection, log);
    const stop = async () => {
      preparation.abort();
      await supervisor.stop();
      if (connection.host !== layout.cluster) rmSync(connection.host, { recursive: true, force: true });
      lock.release();
    };
    return expose(supervisor, connection, stop);
  } catch (error) {
    lock.release();
    throw cannotUse(layout.dataDir, error);
  }
}

function expose(supervisor: Supervisor, connection: Connection, stop: () => Promise<void>): EmbeddedPostgres {
  let stopped: Promise<void> | undefined;
  return {
    connection,
    exited: supervisor.exited,
    get pid() {
      return supervisor.pid;
    },
    get state() {
      return supervisor.state;
    },
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** The connection of a server that runs under `dataDir`, started by whichever process; null when none does. */
export function readConnection(dataDir: string): Connection | null {
  const layout = layoutOf(dataDir);
  const record = readConnectionRecord(layout);
  if (record === undefined || findPostmaster(layout) === undefined) return null;
  const { host, port, user, password, database } = record;
  return { host, port, user, password, database };
}

async function start(
  layout: Layout,
  major: Major,
  log: EmbeddedLog,
  onStep: (step: EmbeddedStep) => void,
): Promise<{ connection: Connection; supervisor: Supervisor }> {
  const owner = chooseOwner(layout);
  const binaries = locateBinaries(major, owner);
  const earlier = readConnectionRecord(layout);
  const address = await chooseAddress(layout, owner, earlier);
  const connection = { ...address, user: USER, password: earlier?.password ?? newPassword(), database: DATABASE };
  const fingerprint = fingerprintOf(binaries.version);
  writeConnectionRecord(layout, { ...connection, fingerprint });
  if (!existsSync(layout.cluster)) onStep('create');
  await ensureCluster(layout, binaries, major, owner, connection);
  const socketDirectory = address.host === layout.cluster ? '.' : address.host;
  writeSettings(layout, owner, { loopback: process.platform === 'win32', socketDirectory, port: address.port });
  onStep('start');
  const options = { layout, binaries, owner, connection, log };
  const supervisor = await Supervisor.start(options, earlier?.fingerprint === fingerprint);
  await ensureDatabase(connection).catch(async (error: unknown) => {
    await supervisor.stop();
    throw error;
  });
  return { connection, supervisor };
}

const newPassword = () => randomBytes(PASSWORD_BYTES).toString('base64url');

type ListenAddress = Pick<Connection, 'host' | 'port'>;

async function chooseAddress(
  layout: Layout,
  owner: Owner | undefined,
  earlier: ConnectionRecord | undefined,
): Promise<ListenAddress> {
  if (process.platform === 'win32') return { host: '127.0.0.1', port: earlier?.port ?? (await freePort()) };
  const socket = join(layout.cluster, `.s.PGSQL.${UNIX_PORT}`);
  if (Buffer.byteLength(socket) <= SOCKET_PATH_BYTES_MAX) return { host: layout.cluster, port: UNIX_PORT };
  if (earlier !== undefined && existsSync(earlier.host)) return { host: earlier.host, port: UNIX_PORT };
  const host = mkdtempSync(join(tmpdir(), 'quartermaster-'));
  giveTo(owner, host);
  return { host, port: UNIX_PORT };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
