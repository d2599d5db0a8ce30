// Finds a running server in this data directory by postmaster.pid and the process table.

import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Layout } from './layout.ts';

export interface PidFile {
  readonly pid: number;
  /** `starting`, `ready`, `stopping` or `standby`; empty while the file is being written. */
  readonly status: string;
}

const PID_LINE = 0;
const STATUS_LINE = 7;

export function readPidFile(layout: Layout): PidFile | undefined {
  try {
    const lines = readFileSync(layout.pidFile, 'utf8').split('\n');
    const pid = Number(lines[PID_LINE]);
    return pid > 0 ? { pid, status: lines[STATUS_LINE]?.trim() ?? '' } : undefined;
  } catch {
    return undefined;
  }
}

/** The server that runs in this data directory, or undefined; a reused process id does not count as one. */
export function findPostmaster(layout: Layout): PidFile | undefined {
  const found = readPidFile(layout);
  return found !== undefined && isServer(found.pid, layout) ? found : undefined;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether `pid` is a server in this data directory; a zombie is not (its directory is gone), nor is a reused id. */
export function isServer(pid: number, layout: Layout): boolean {
  if (!isAlive(pid)) return false;
  try {
    if (process.platform === 'linux') return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(layout.cluster);
    if (process.platform === 'win32') return true;
    return /postgres/.test(execFileSync('/bin/ps', ['-p', String(pid), '-o', 'comm='], { encoding: 'utf8' }));
  } catch {
    return false;
  }
}

/** Removes what a server that no longer runs left behind, and what would keep the next one from starting. */
export function removeLeftovers(layout: Layout, socketDirectory: string, port: number): void {
  const socket = join(socketDirectory, `.s.PGSQL.${port}`);
  for (const path of [layout.pidFile, socket, `${socket}.lock`]) rmSync(path, { force: true });
}
