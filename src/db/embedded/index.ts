// The embedded PostgreSQL, used when no DATABASE_URL is given: a real server, durable, started and supervised by the service. It listens on a
// Unix socket in a directory that only its user may enter (loopback on Windows), with a random password.

import { existsSync, rmSync } from 'node:fs';
import { CURRENT_MAJOR, type Major } from './binaries.ts';
import { ensureDatabase } from './cluster.ts';
import { cannotUse } from './failure.ts';
import {
  type Connection,
  createHome,
  type Layout,
  layoutOf,
  readConnectionRecord,
  writeConnectionRecord,
} from './layout.ts';
import { takeServiceLock } from './lock.ts';
import { findPostmaster } from './pid-file.ts';
import { prepareServer } from './prepare.ts';
import { type EmbeddedLog, type EmbeddedState, Supervisor } from './supervisor.ts';
import { finishUpgrade } from './upgrade/swap.ts';
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

const SILENT: EmbeddedLog = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Starts PostgreSQL under `dataDir`/postgres, making the cluster first where there is none.
 * @throws StartupError with one line for the operator: directory in use, full, not writable, of another major version.
 */
export async function startEmbedded({
  dataDir,
  major = CURRENT_MAJOR,
  log = SILENT,
  onStep = () => undefined,
}: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const layout = layoutOf(dataDir);
  createHome(layout);
  const lock = takeServiceLock(layout);
  try {
    finishUpgrade(layout);
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
  const earlier = readConnectionRecord(layout);
  const server = await prepareServer(layout, major, earlier, (record) => {
    writeConnectionRecord(layout, record);
    if (!existsSync(layout.cluster)) onStep('create');
  });
  onStep('start');
  const { connection, fingerprint, ...rest } = server;
  const supervisor = await Supervisor.start({ layout, ...rest, connection, log }, earlier?.fingerprint === fingerprint);
  await ensureDatabase(connection).catch(async (error: unknown) => {
    await supervisor.stop();
    throw error;
  });
  return { connection, supervisor };
}
