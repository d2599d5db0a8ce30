// One run of the PostgreSQL server: started by the service or found running, awaited until it accepts connections, stopped.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartupError } from '../errors.ts';
import type { Binaries } from './binaries.ts';
import { causeIn } from './failure.ts';
import type { Layout } from './layout.ts';
import { type Owner, placeOf } from './owner.ts';
import { isAlive, isServer, readPidFile } from './pid-file.ts';

export interface Postmaster {
  readonly pid: number;
  /** Resolves with the exit code; null when a signal ended it or when it was not our child. */
  readonly exited: Promise<number | null>;
}

const READY_POLL_MS = 5;
const ADOPTED_POLL_MS = 200;
const LOG_BYTES_MAX = 16 * 1024 * 1024;
const STOP_STEPS = [
  { signal: 'SIGINT', mode: 'fast', waitMs: 15_000 },
  { signal: 'SIGQUIT', mode: 'immediate', waitMs: 5_000 },
  { signal: 'SIGKILL', mode: 'immediate', waitMs: 5_000 },
] as const;

/**
 * Starts the server and resolves once it accepts connections.
 * @throws StartupError with what the server said, when it ends before that.
 */
export async function startPostmaster(
  layout: Layout,
  binaries: Binaries,
  owner: Owner | undefined,
  signal: AbortSignal,
): Promise<Postmaster> {
  const log = openLog(layout);
  const postmaster = spawnServer(layout, binaries, owner, log.fd);
  closeSync(log.fd);
  const pid = await postmaster.pid;
  const started = { pid, exited: postmaster.exited };
  if (await isReady(layout, started, signal)) return started;
  await stopPostmaster(layout, binaries, started);
  signal.throwIfAborted();
  const said = readFileSync(layout.logFile).subarray(log.offset).toString('utf8');
  throw new StartupError(`PostgreSQL does not start in ${layout.cluster}: ${causeIn(said)} (see ${layout.logFile})`);
}

/** A server that outlived an earlier run of the service. It is not our child, so its end is seen by polling. */
export function adoptPostmaster(layout: Layout, pid: number): Postmaster {
  const watch = async () => {
    while (isServer(pid, layout)) await sleep(ADOPTED_POLL_MS, undefined, { ref: false });
    return null;
  };
  const exited = watch();
  endWithProcess(exited, () => isServer(pid, layout) && process.kill(pid, 'SIGINT'));
  return { pid, exited };
}

/** A process that ends in haste has no time to wait: the server, told by `end`, shuts down in order by itself. */
function endWithProcess(exited: Promise<unknown>, end: () => void): void {
  process.once('exit', end);
  void exited.then(() => process.off('exit', end));
}

/** Fast shutdown (sessions are ended, a checkpoint is written); harsher steps follow when it does not end in time. */
export async function stopPostmaster(layout: Layout, { pgCtl }: Binaries, postmaster: Postmaster): Promise<void> {
  for (const { signal, mode, waitMs } of STOP_STEPS) {
    if (process.platform === 'win32') execFileSync(pgCtl, ['stop', '-W', '-m', mode, '-D', layout.cluster]);
    else if (isAlive(postmaster.pid)) process.kill(postmaster.pid, signal);
    const deadline = new AbortController();
    const ended = postmaster.exited.then(() => true);
    const late = sleep(waitMs, false, { signal: deadline.signal }).catch(() => false);
    const done = await Promise.race([ended, late]);
    deadline.abort();
    if (done) return;
  }
  throw new Error(`PostgreSQL (process ${postmaster.pid}) does not stop`);
}

function openLog({ logFile }: Layout): { fd: number; offset: number } {
  const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_BYTES_MAX) renameSync(logFile, `${logFile}.1`);
  const fd = openSync(logFile, 'a', 0o600);
  return { fd, offset: fstatSync(fd).size };
}

function spawnServer(layout: Layout, { postgres }: Binaries, owner: Owner | undefined, logFd: number) {
  const { cwd, pgdata } = placeOf(owner, layout.cluster);
  const child = spawn(postgres, ['-D', pgdata], {
    ...owner,
    cwd,
    env: { LC_ALL: 'C' },
    stdio: ['ignore', logFd, logFd],
    // Its own process group: Ctrl-C in the terminal reaches the service first, which then stops the server in order.
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  child.unref();
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  endWithProcess(exited, () => child.kill('SIGINT'));
  return { pid: spawnedPid(child), exited };
}

function spawnedPid(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid as number));
    child.once('error', (cause) =>
      reject(new StartupError(`PostgreSQL cannot be run: ${causeIn(cause.message)}`, { cause })),
    );
  });
}

/** @returns false when the server ended, or the wait was aborted, before it accepted connections. */
export async function isReady(layout: Layout, postmaster: Postmaster, signal: AbortSignal): Promise<boolean> {
  let ended = false;
  void postmaster.exited.then(() => {
    ended = true;
  });
  while (!ended && !signal.aborted) {
    const file = readPidFile(layout);
    if (file?.pid === postmaster.pid && file.status === 'ready') return true;
    await sleep(READY_POLL_MS);
  }
  return false;
}
