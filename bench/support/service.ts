// Starts the service under test and talks to it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { withClient } from '../../src/db/client.ts';
import { type Connection, readConnection } from '../../src/db/embedded/index.ts';

export interface BenchAccount {
  readonly accountId: string;
  readonly secret: string;
}

export interface LongestTurn {
  /** Of processor time. */
  readonly ms: number;
  /** Of it in the kernel: new pages of memory, sockets. */
  readonly kernelMs: number;
  /** By the clock, of it: garbage was collected. */
  readonly collectingMs: number;
}

export interface BenchService {
  readonly url: string;
  /** Of the only process, or the first. */
  readonly pid: number;
  /** Of all that answer calls. */
  readonly workers: readonly number[];
  readonly accounts: readonly BenchAccount[];
  readonly connection: Connection;
  readonly dataDir: string;
  call(secret: string, path: string, body: unknown): Promise<unknown>;
  /** Resident memory of all its processes but PostgreSQL, MB. */
  memoryMb(): number;
  /** The turn of the first process's loop that took the most processor time since this was last asked, to about a millisecond. */
  longestTurn(): Promise<LongestTurn>;
  stop(): Promise<void>;
}

/** A fresh service on a data directory of its own, with `accounts` accounts of a million USD each. The no-op is there in one process only. */
export async function startBenchService(
  accounts = 1,
  rateLimits: 'on' | 'off' = 'off',
  workers = Number(process.env.WORKERS ?? 1),
  settings: Readonly<Record<string, string>> = {},
): Promise<BenchService> {
  const dataDir = mkdtempSync(join(tmpdir(), 'qm-bench-'));
  const nodeArgs = process.env.BENCH_NODE_ARGS?.split(' ') ?? [];
  const server = new URL('./server.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [...nodeArgs, server, String(accounts)], {
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORT: '0',
      DATA_DIR: dataDir,
      RATE_LIMITS: rateLimits,
      LOG_LEVEL: process.env.LOG_LEVEL ?? 'error',
      ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
      VECTOR_MEMORY_MB: '6144',
      WORKERS: String(workers),
      ...settings,
    },
  });
  const ready = await firstLine(child);
  const { url, pid, accounts: made } = JSON.parse(ready) as { url: string; pid: number; accounts: BenchAccount[] };
  const { DATABASE_URL } = settings;
  const connection = DATABASE_URL === undefined ? (readConnection(dataDir) as Connection) : connectionOf(DATABASE_URL);
  if (DATABASE_URL === undefined) await walPrepared(connection);
  const forked = childrenOf(pid).filter((of) => readFileSync(`/proc/${of}/cmdline`, 'utf8').includes('src/main.js'));
  return {
    url,
    pid,
    workers: workers === 1 ? [pid] : forked,
    accounts: made,
    connection,
    dataDir,
    async call(secret, path, body) {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
      return response.json();
    },
    memoryMb: () =>
      [pid, ...forked, ...[pid, ...forked].flatMap(picturesOf)].reduce((sum, of) => sum + residentMb(of), 0),
    async longestTurn() {
      const answered = once(child, 'message');
      child.send('turns');
      const [turn] = (await answered) as [LongestTurn];
      return turn;
    },
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.stdin?.end();
      await ended;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

function connectionOf(url: string): Connection {
  const { host, port, user, password, database } = new pg.Client({ connectionString: url });
  return { host, port, user: user ?? 'postgres', password: password ?? '', database: database ?? 'postgres' };
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

/** Its processes that make pictures: they come and go. */
function picturesOf(pid: number): number[] {
  return childrenOf(pid).filter((of) => readProc(of, 'cmdline').includes('/pictures/process.ts'));
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readProc(pid, 'status'))?.[1] ?? 0) / 1024;
}

/** Empty of one that has just ended. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** A new cluster makes its WAL segments in its first seconds; commits wait up to 0.4 s meanwhile, which is not what is measured. */
async function walPrepared(connection: Connection): Promise<void> {
  let segments = 0;
  for (let same = 0; same < 3; ) {
    await sleep(1_000);
    const [found] = await query<{ count: number }>(connection, 'SELECT count(*)::int AS count FROM pg_ls_waldir()');
    same = found?.count === segments && segments > 3 ? same + 1 : 0;
    segments = found?.count ?? 0;
  }
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    if (child.stdout === null) throw new Error('no output');
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}`)));
  });
}

/** Runs SQL beside the service, on a connection of its own. */
export async function query<R>(connection: Connection, text: string): Promise<R[]> {
  return withClient(connection, async (client) => (await client.query(text)).rows as R[]);
}

/** Process id of the PostgreSQL server. */
export async function postmasterPid(connection: Connection): Promise<number> {
  const [row] = await query<{ file: string }>(connection, "SELECT pg_read_file('postmaster.pid') AS file");
  return Number(row?.file.split('\n')[0]);
}
