// Paths under DATA_DIR/postgres, and the connection file, by which the service and the CLI reach the server.

import { accessSync, constants, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cannotUse } from './failure.ts';

export interface Connection {
  /** The directory of the Unix socket; 127.0.0.1 on Windows. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** What connection.json holds: the connection, and which server build and settings it belongs to. */
export interface ConnectionRecord extends Connection {
  readonly fingerprint: string;
}

export interface Layout {
  readonly dataDir: string;
  readonly home: string;
  readonly cluster: string;
  /** initdb works here; renamed to `cluster` when complete, so that a half-made cluster is never taken for one. */
  readonly unfinishedCluster: string;
  readonly connectionFile: string;
  readonly lockFile: string;
  readonly lockHolderFile: string;
  readonly logFile: string;
  readonly settingsFile: string;
  readonly pidFile: string;
}

/** `name`: of the cluster's folder; another one while a cluster is upgraded. */
export function layoutOf(dataDir: string, name = 'data'): Layout {
  const home = join(resolve(dataDir), 'postgres');
  const cluster = join(home, name);
  return {
    dataDir: resolve(dataDir),
    home,
    cluster,
    unfinishedCluster: join(home, `${name}.unfinished`),
    connectionFile: join(home, 'connection.json'),
    lockFile: join(home, 'service.lock'),
    lockHolderFile: join(home, 'service.pid'),
    logFile: join(home, 'server.log'),
    settingsFile: join(cluster, 'quartermaster.conf'),
    pidFile: join(cluster, 'postmaster.pid'),
  };
}

/**
 * Creates DATA_DIR/postgres. A directory that exists keeps its permissions.
 * @throws StartupError naming the directory when it cannot be created or written.
 */
export function createHome(layout: Layout): void {
  try {
    mkdirSync(layout.home, { recursive: true, mode: 0o755 });
    accessSync(layout.home, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw cannotUse(layout.dataDir, cause);
  }
}

/** The connection file as written last, or undefined when there is none (or it is not whole). */
export function readConnectionRecord(layout: Layout): ConnectionRecord | undefined {
  try {
    return JSON.parse(readFileSync(layout.connectionFile, 'utf8')) as ConnectionRecord;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw cannotUse(layout.dataDir, error);
  }
}

export function writeConnectionRecord(layout: Layout, record: ConnectionRecord): void {
  const unfinished = `${layout.connectionFile}.unfinished`;
  try {
    writeFileSync(unfinished, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600, flush: true });
    renameSync(unfinished, layout.connectionFile);
  } catch (cause) {
    throw cannotUse(layout.dataDir, cause);
  }
}
