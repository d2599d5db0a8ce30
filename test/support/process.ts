// The service as a process of its own: started, watched, killed and started again. What a test leaves running ends with the test.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';

export const PROJECT = join(import.meta.dirname, '../..');
const START_WITHIN_MS = 60_000;
const POLL_MS = 20;

/** A data directory and a port that outlive the processes started on them. */
export interface Place {
  readonly dataDir: string;
  readonly port: number;
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  readonly operatorKeyFile: string;
  operatorKey(): string;
  /** Process id of the PostgreSQL of this data directory; undefined when none runs. */
  postgresPid(): number | undefined;
  /** Ends everything that was started here and removes the directory. */
  remove(): Promise<void>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ServiceProcess {
  readonly place: Place;
  readonly url: string;
  readonly pid: number;
  readonly child: ChildProcess;
  readonly exited: Promise<Exit>;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Exit>;
}

const places = new Set<{ children: Set<ChildProcess>; place: Place }>();
process.once('exit', () => {
  for (const { children, place } of places) {
    for (const child of children) child.kill('SIGKILL');
    signalProcess(place.postgresPid(), 'SIGKILL');
    rmSync(place.dataDir, { recursive: true, force: true });
  }
});

/**
 * @param env beyond PORT and DATA_DIR; DATABASE_URL keeps the service from starting a PostgreSQL of its own, and in a DATA_DIR it makes that
 * itself.
 */
export async function createPlace(env: Readonly<Record<string, string>> = {}): Promise<Place> {
  const dataDir = env.DATA_DIR ?? mkdtempSync(join(tmpdir(), 'quartermaster-process-'));
  // With owners and modes.
  if (env.DATA_DIR === undefined && env.DATABASE_URL === undefined)
    execFileSync('cp', ['-a', join(inject('preparedData'), 'postgres'), dataDir]);
  const port = env.PORT === undefined ? await freePort() : Number(env.PORT);
  const children = new Set<ChildProcess>();
  const operatorKeyFile = join(dataDir, 'operator.key');
  const place: Place = {
    dataDir,
    port,
    url: `http://127.0.0.1:${port}`,
    env: { LOG_LEVEL: 'warn', RATE_LIMITS: 'off', WORKERS: '1', ...env, PORT: String(port), DATA_DIR: dataDir },
    operatorKeyFile,
    operatorKey: () => readFileSync(operatorKeyFile, 'utf8').trim(),
    postgresPid: () => livePostgres(dataDir),
    async remove() {
      await Promise.all([...children].map((child) => endChild(child, 'SIGKILL')));
      const postgres = place.postgresPid();
      signalProcess(postgres, 'SIGKILL');
      await until(() => postgres === undefined || !isAlive(postgres));
      places.delete(entry);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  const entry = { children, place };
  places.add(entry);
  return place;
}

const MAIN = join(PROJECT, 'src/main.js');

/** Starts the process; resolves at once, ready or not. */
export function launch(
  place: Place,
  env: Readonly<Record<string, string>> = {},
  cwd = PROJECT,
  program = MAIN,
): ServiceProcess {
  return launchCommand([process.execPath, program], place, env, cwd);
}

/** As `launch`, by another command, such as npm. */
export function launchCommand(
  [command, ...words]: readonly [string, ...string[]],
  place: Place,
  env: Readonly<Record<string, string>> = {},
  cwd = PROJECT,
): ServiceProcess {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(command, words, {
    cwd,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...place.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, so that a test can signal it as a terminal would.
    detached: true,
  });
  const entry = [...places].find((known) => known.place === place);
  entry?.children.add(child);
  const exited = once(child, 'exit').then(([code, signal]): Exit => {
    entry?.children.delete(child);
    return { code, signal };
  });
  return {
    place,
    url: place.url,
    pid: child.pid as number,
    child,
    exited,
    stdout: collect(child.stdout),
    stderr: collect(child.stderr),
    end: async (signal) => {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return exited;
    },
  };
}

/** Starts the process and waits until calls are answered. Throws with what it said when it ends before that. */
export async function startProcess(
  place: Place,
  env: Readonly<Record<string, string>> = {},
  cwd = PROJECT,
  program = MAIN,
): Promise<ServiceProcess> {
  const started = launch(place, env, cwd, program);
  const deadline = performance.now() + START_WITHIN_MS;
  while (!(await isReady(place.url))) {
    const ended = started.child.exitCode !== null || started.child.signalCode !== null;
    if (ended || performance.now() > deadline) {
      throw new Error(`the service does not start:\n${started.stdout()}\n${started.stderr()}`);
    }
    await sleep(POLL_MS);
  }
  return started;
}

export async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) })).ok;
  } catch {
    return false;
  }
}

// Below the ports that systems hand out by themselves: no connection of another test takes it before the service listens.
const PORTS = { from: 10_000, to: 32_000 };

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** A zombie, which nobody collects in some containers, is not alive. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Process ids of the children of a process, on Linux. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

/** The workers of a service with several, without its PostgreSQL. */
export function workersOf(pid: number): number[] {
  return childrenOf(pid).filter((child) => commandOf(child).includes('main.js'));
}

/** Empty for a process that has ended meanwhile. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}

export function signalProcess(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 50_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain`);
    await sleep(POLL_MS);
  }
}

async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

function livePostgres(dataDir: string): number | undefined {
  try {
    const file = readFileSync(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8');
    const pid = Number(file.split('\n', 1)[0]);
    return pid > 0 && isAlive(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  let text = '';
  stream?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return () => text;
}
