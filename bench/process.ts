// How fast does it start, how much memory does it take, and does memory stay flat? Starts are measured from spawning the process to
// the answer of a publish. The ten minutes at full load run with BENCH_MINUTES=10 (default 0: skipped).
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { consumeAndAck, publish, QUEUE } from './support/flows.ts';
import { load } from './support/load.ts';
import { median, print, type Row } from './support/report.ts';
import { startBenchService } from './support/service.ts';

const STARTS = Number(process.env.BENCH_STARTS ?? 5);
const MINUTES = Number(process.env.BENCH_MINUTES ?? 0);
const main = new URL('../src/main.js', import.meta.url).pathname;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}

/** Milliseconds from spawning to the first answered publish, and the memory of the idle service some seconds later. */
async function start(dataDir: string, idleMs: number): Promise<{ startMs: number; memoryMb: number }> {
  const port = await freePort();
  const startedMs = performance.now();
  const env = { ...process.env, PORT: String(port), DATA_DIR: dataDir, LOG_LEVEL: 'error', RATE_LIMITS: 'off' };
  const child = spawn(process.execPath, [main], { env, stdio: 'ignore' });
  const keyFile = join(dataDir, 'operator.key');
  const call = async (path: string, body: unknown): Promise<boolean> => {
    try {
      const secret = readFileSync(keyFile, 'utf8').trim();
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return response.ok;
    } catch {
      return false; // not there yet: the port, or the key of the first start
    }
  };
  while (!existsSync(keyFile) || !(await call('/v1/queue/create', { name: QUEUE }))) await sleep(5);
  if (!(await call('/v1/queue/publish', { queue: QUEUE, payload: { n: 1 } }))) throw new Error('publish failed');
  const startMs = performance.now() - startedMs;
  await sleep(idleMs);
  const memoryMb = residentMb(child.pid as number);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
  return { startMs, memoryMb };
}

const cold: number[] = [];
const warm: number[] = [];
let idleMb = 0;
for (let i = 0; i < STARTS; i += 1) {
  const dataDir = mkdtempSync(join(tmpdir(), 'qm-start-'));
  cold.push((await start(dataDir, 0)).startMs);
  const again = await start(dataDir, i === 0 ? 10_000 : 0);
  warm.push(again.startMs);
  if (i === 0) idleMb = again.memoryMb;
  rmSync(dataDir, { recursive: true, force: true });
}
const rows: Row[] = [
  {
    what: 'cold start to the first answered publish',
    value: `${Math.round(median(cold))} ms (${cold.map(Math.round).join(', ')})`,
    target: '≤ 3,000 ms',
    met: median(cold) <= 3_000,
  },
  {
    what: 'warm start to the first answered publish',
    value: `${Math.round(median(warm))} ms (${warm.map(Math.round).join(', ')})`,
    target: '≤ 1,500 ms',
    met: median(warm) <= 1_500,
  },
  { what: 'idle service, resident', value: `${idleMb.toFixed(0)} MB`, target: '≤ 150 MB', met: idleMb <= 150 },
];
if (MINUTES > 0) rows.push(await underLoad());
print('Process', rows);

async function underLoad(): Promise<Row> {
  const service = await startBenchService(1);
  const [account] = service.accounts;
  if (account === undefined) throw new Error('no account');
  await service.call(account.secret, '/v1/queue/create', { name: QUEUE });
  const at = async (seconds: number) => {
    const half = { url: service.url, connections: 32, seconds };
    await Promise.all([
      load({ ...half, flow: publish(service.url, account) }),
      load({ ...half, flow: consumeAndAck(service.url, account) }),
    ]);
    return service.memoryMb();
  };
  const early = await at(120);
  const late = await at(MINUTES * 60 - 120);
  await service.stop();
  return {
    what: `resident after ${MINUTES} minutes at full load against after 2`,
    value: `${(late / early).toFixed(2)} x (${early.toFixed(0)} MB, ${late.toFixed(0)} MB)`,
    target: '≤ 1.1 x',
    met: late / early <= 1.1,
  };
}
