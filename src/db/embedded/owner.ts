// The user that runs PostgreSQL. PostgreSQL refuses root, so a service started by root runs it as an existing unprivileged user.

import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartupError } from '../errors.ts';
import type { Layout } from './layout.ts';

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

const PREFERRED_USERS = ['postgres', 'nobody'];
const OVERFLOW_USER: Owner = { uid: 65_534, gid: 65_534 };
const SEARCH_BIT = 0o1;

/**
 * The user to run the server as, or undefined for the service's own. An existing cluster keeps its owner.
 * @throws StartupError when the cluster belongs to a user this process cannot act as.
 */
export function chooseOwner(layout: Layout): Owner | undefined {
  const uid = process.getuid?.();
  if (uid === undefined) return undefined;
  const cluster = statSync(layout.cluster, { throwIfNoEntry: false });
  if (uid !== 0) {
    if (cluster === undefined || cluster.uid === uid) return undefined;
    throw new StartupError(
      `the database in ${layout.cluster} belongs to user id ${cluster.uid}, this process is ${uid}: start it as root or as that user`,
    );
  }
  if (cluster !== undefined && cluster.uid !== 0) return { uid: cluster.uid, gid: cluster.gid };
  return unprivilegedUser();
}

function unprivilegedUser(): Owner {
  const entries = readUsers();
  for (const name of PREFERRED_USERS) {
    const fields = entries.find((entry) => entry[0] === name);
    const uid = Number(fields?.[2]);
    if (uid > 0) return { uid, gid: Number(fields?.[3]) };
  }
  return OVERFLOW_USER;
}

function readUsers(): string[][] {
  try {
    const text = readFileSync('/etc/passwd', 'utf8');
    return text.split('\n').map((line) => line.split(':'));
  } catch {
    return [];
  }
}

/** Whether `owner` may pass through every directory down to `path`, judged by the permission bits. */
export function canReach(owner: Owner | undefined, path: string): boolean {
  if (owner === undefined) return true;
  for (let directory = realpathSync(path); ; directory = dirname(directory)) {
    if (!maySearch(owner, statSync(directory))) return false;
    if (directory === dirname(directory)) return true;
  }
}

function maySearch(owner: Owner, stats: Stats): boolean {
  if (stats.uid === owner.uid) return (stats.mode & (SEARCH_BIT << 6)) !== 0;
  if (stats.gid === owner.gid) return (stats.mode & (SEARCH_BIT << 3)) !== 0;
  return (stats.mode & SEARCH_BIT) !== 0;
}

export interface Place {
  readonly cwd: string;
  /** The name under which the server process itself reaches `cwd`. */
  readonly pgdata: string;
}

/**
 * How the server finds its data directory. Where `owner` may not pass through a parent (data under /root), Linux lets a
 * process reach the directory it was started in by /proc/self/cwd, and nothing has to be opened up for others. (Not so
 * PostgreSQL 15, which only tests run: it leaves that directory for a moment and cannot come back.)
 */
export function placeOf(owner: Owner | undefined, directory: string): Place {
  if (canReach(owner, directory)) return { cwd: directory, pgdata: directory };
  if (process.platform === 'linux') return { cwd: directory, pgdata: '/proc/self/cwd' };
  throw new StartupError(
    `the database cannot run in ${directory} as user id ${owner?.uid}, which may not enter a parent directory: choose another DATA_DIR`,
  );
}
