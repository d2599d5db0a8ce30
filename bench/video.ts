// Videos: how long the sandbox takes and what publishes beside it feel (on two cores), what asking for a job's status costs, and what a
// thousand live jobs at a vendor cost while they wait. BENCH_PARTS names some of: sandbox, status, vendor.
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startVictim } from './hostile/children.ts';
import { noop, QUEUE } from './support/flows.ts';
import { type Flow, get, load } from './support/load.ts';
import { processorSeconds, treeSeconds } from './support/processor.ts';
import { median, perSecond, print, type Row, ratioRow } from './support/report.ts';
import { type BenchAccount, type BenchService, postmasterPid, query, startBenchService } from './support/service.ts';
import type { VideosSeen } from './support/video-vendor.ts';

const PARTS = (process.env.BENCH_PARTS ?? 'status vendor sandbox').split(/[\s,]+/);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const CONNECTIONS = 64;
const PUBLISHES = 200;
const VENDOR_ACCOUNTS = 100;
const JOBS_EACH = 10;
const WATCHED_SECONDS = 30;
const MADE = 50;
/** A poll every 15 s, jitter included, for jobs of some minutes. */
const INTERVAL_MS = 15_000;

interface Job {
  readonly job_id: string;
  readonly state: string;
  readonly created_at: string;
  readonly finished_at: string | null;
}

async function generate(service: BenchService, { secret }: BenchAccount, over: object): Promise<Job> {
  const body = { prompt: 'A paper boat on a pond. Rain begins.', duration_seconds: 1, ...over };
  return ((await service.call(secret, '/v1/video/generate', body)) as { data: Job }).data;
}

async function ended({ url }: BenchService, { secret }: BenchAccount, id: string): Promise<Job> {
  for (;;) {
    const reply = await fetch(`${url}/v1/video/get/${id}`, { headers: { authorization: `Bearer ${secret}` } });
    const { data } = (await reply.json()) as { data: Job };
    if (data.finished_at !== null) return data;
    await sleep(50);
  }
}

async function status(): Promise<void> {
  const service = await startBenchService();
  const { url, accounts } = service;
  const account = accounts[0] as BenchAccount;
  const { job_id: id } = await generate(service, account, { prompt: '[[hang]]' });
  const asking = (operation: string): Flow => {
    const request = get(url, `/v1/video/${operation}/${id}`, account.secret);
    return { next: () => request };
  };
  const flows = { noop: noop(url, account), status: asking('status'), get: asking('get') };
  const rates: Record<keyof typeof flows, number[]> = { noop: [], status: [], get: [] };
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [name, flow] of Object.entries(flows)) {
      const { rate, failed } = await load({ url, connections: CONNECTIONS, seconds: SECONDS, flow });
      if (failed > 0) throw new Error(`${name}: ${failed} calls failed`);
      if (round >= 0) rates[name as keyof typeof flows].push(rate);
    }
  }
  await service.stop();
  const against = (name: keyof typeof flows) => rates[name].map((rate, i) => rate / (rates.noop[i] as number));
  print(`Asking for a job, ${CONNECTIONS} connections (${ROUNDS} rounds of ${SECONDS} s)`, [
    ratioRow('status / no-op', against('status'), 0.8),
    ratioRow('get / no-op', against('get')),
    {
      what: 'no-op, status, get',
      value: Object.values(rates)
        .map((all) => perSecond(median(all)))
        .join(', '),
    },
  ]);
}

/** Service and load on two cores of the machine. */
async function sandbox(): Promise<void> {
  execFileSync('taskset', ['-apc', '0,1', String(process.pid)], { stdio: 'ignore' });
  const service = await startBenchService(2);
  const [account, other] = service.accounts as [BenchAccount, BenchAccount];
  await service.call(other.secret, '/v1/queue/create', { name: QUEUE });
  const victim = startVictim();
  const order = { url: service.url, secret: other.secret, perSecond: PUBLISHES };
  const video = { duration_seconds: 5, resolution: '720p' };
  const seconds: number[] = [];
  const p99: { alone: number; beside: number }[] = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    const alone = await victim.take({ ...order, seconds: 4 });
    const watched = victim.take({ ...order, seconds: 4 });
    // One video after another: something is rendered all the time.
    const endMs = performance.now() + 4_000;
    while (performance.now() < endMs) {
      const job = await ended(service, account, (await generate(service, account, video)).job_id);
      if (job.state !== 'succeeded') throw new Error(`a video is ${job.state}`);
      if (round >= 0) seconds.push((Date.parse(job.finished_at as string) - Date.parse(job.created_at)) / 1_000);
    }
    const beside = await watched;
    if (round >= 0) p99.push({ alone: alone.p99Ms, beside: beside.p99Ms });
  }
  victim.end();
  await service.stop();
  const [slowest, ratio] = [Math.max(...seconds), median(p99.map(({ alone, beside }) => beside / alone))];
  const ms = (name: 'alone' | 'beside') => `${median(p99.map((each) => each[name])).toFixed(1)} ms`;
  print(`The sandbox on two cores (${seconds.length} videos)`, [
    {
      what: '720p of 5 s, from the call to its end',
      value: `${median(seconds).toFixed(1)} s, slowest ${slowest.toFixed(1)} s`,
      target: '≤ 5 s',
      met: median(seconds) <= 5,
    },
    {
      what: `p99 of ${PUBLISHES} calls of the queue a second: alone, beside videos`,
      value: `${ms('alone')}, ${ms('beside')}; ${ratio.toFixed(1)} x`,
      target: '≤ 3 x',
      met: ratio <= 3,
    },
  ]);
}

/** With a vendors.yaml of one vendor at the port. */
function vendorsFolder(port: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'qm-bench-vendors-'));
  writeFileSync(join(folder, 'key'), 'bench-vendor-key', { mode: 0o600 });
  const row = { id: 'video-1', price: 'free', seconds: { min: 1, max: 10 } };
  const entry = { id: 'double', adapter: 'openai-videos', base_url: `http://127.0.0.1:${port}/v1`, region: 'western' };
  const file = { version: 1, vendors: [{ ...entry, api_key: { file: './key' }, models: [row] }] };
  writeFileSync(join(folder, 'vendors.yaml'), JSON.stringify(file));
  return folder;
}

async function vendor(): Promise<void> {
  const videos = fork(new URL('./support/video-vendor.ts', import.meta.url).pathname);
  const [port] = (await once(videos, 'message')) as [number];
  const tell = async (made: number): Promise<VideosSeen> => {
    const answer = once(videos, 'message');
    videos.send(made);
    return ((await answer) as [VideosSeen])[0];
  };
  const folder = vendorsFolder(port);
  const service = await startBenchService(VENDOR_ACCOUNTS, 'off', 1, { VENDORS_FILE: join(folder, 'vendors.yaml') });
  const postmaster = await postmasterPid(service.connection);
  const cpu = () => ({ node: processorSeconds(service.pid), postgres: treeSeconds(postmaster) });
  const spent = async (seconds: number) => {
    const before = cpu();
    await sleep(seconds * 1_000);
    const after = cpu();
    return { node: (after.node - before.node) / seconds, postgres: (after.postgres - before.postgres) / seconds };
  };
  const idle = await spent(5);
  for (const account of service.accounts)
    await Promise.all(Array.from({ length: JOBS_EACH }, () => generate(service, account, { model: 'double/video-1' })));
  while ((await tell(0)).jobs < VENDOR_ACCOUNTS * JOBS_EACH) await sleep(200);
  // As if they had been accepted ten minutes ago: they are asked for every 13 to 15 s, from the next time on.
  await query(service.connection, `UPDATE video.job SET created_at = created_at - interval '10 minutes'`);
  await sleep(INTERVAL_MS);
  const [memoryMb, { polls }] = [service.memoryMb(), await tell(0)];
  const waiting = await spent(WATCHED_SECONDS);
  const [memoryAfterMb, { polls: pollsAfter }] = [service.memoryMb(), await tell(0)];
  for (let i = 0; i < MADE; i += 1) {
    await tell(1);
    await sleep(40);
  }
  const rows = await lateness(service, tell);
  await service.stop();
  videos.disconnect();
  rmSync(folder, { recursive: true });
  const share = (name: 'node' | 'postgres') => Math.max(0, waiting[name] - idle[name]);
  const percent = (value: number) => `${(100 * value).toFixed(1)} %`;
  const each = (1e6 * share('node') * WATCHED_SECONDS) / (pollsAfter - polls);
  print(`${VENDOR_ACCOUNTS * JOBS_EACH} live jobs at a vendor, of ${VENDOR_ACCOUNTS} accounts`, [
    {
      what: `${perSecond((pollsAfter - polls) / WATCHED_SECONDS)} polls: share of a core beyond an idle service, Node`,
      value: `${percent(share('node'))}; ${each.toFixed(0)} µs a poll`,
      target: '≤ 5 %',
      met: share('node') <= 0.05,
    },
    { what: 'the same, PostgreSQL', value: percent(share('postgres')) },
    {
      what: `memory of the service before and after ${WATCHED_SECONDS} s of it`,
      value: `${memoryMb.toFixed(0)}, ${memoryAfterMb.toFixed(0)} MB`,
      target: 'flat',
      met: memoryAfterMb <= memoryMb * 1.1,
    },
    ...rows,
  ]);
}

/** From the vendor's completion to the end of the job, which is told in the same commit. */
async function lateness(service: BenchService, tell: (made: number) => Promise<VideosSeen>): Promise<Row[]> {
  const endMs = performance.now() + 2 * INTERVAL_MS;
  let seen = await tell(0);
  const findEnds = `SELECT a.reference, extract(epoch FROM j.finished_at)::float8 * 1000 AS at
                      FROM video.job j, core.vendor_attempt a
                     WHERE a.account_id = j.account_id AND a.work = 'video:' || j.job_id AND j.state = 'succeeded'`;
  const ends = () => query<{ reference: string; at: number }>(service.connection, findEnds);
  let finished = await ends();
  while (finished.length < MADE && performance.now() < endMs) {
    await sleep(200);
    finished = await ends();
  }
  seen = await tell(0);
  if (finished.length < MADE) throw new Error(`${finished.length} of ${MADE} jobs have ended`);
  const endOf = new Map(finished.map(({ reference, at }) => [reference, at]));
  const sorted = (values: readonly number[]) => [...values].sort((a, b) => a - b);
  const whole = sorted(seen.made.map(({ reference, atMs }) => (endOf.get(reference) as number) - atMs));
  const after = sorted(seen.made.map(({ reference, toldMs }) => (endOf.get(reference) as number) - (toldMs as number)));
  const p99 = (values: readonly number[]) => values[Math.floor(values.length * 0.99)] as number;
  return [
    {
      what: "from the vendor's completion to video.job.completed: p50, p99",
      value: `${(median(whole) / 1_000).toFixed(1)}, ${(p99(whole) / 1_000).toFixed(1)} s`,
      target: `≤ one poll interval (${INTERVAL_MS / 1_000} s) + 300 ms`,
      met: p99(whole) <= INTERVAL_MS + 300,
    },
    {
      what: 'of that, from the poll that found it: p50, p99',
      value: `${median(after).toFixed(0)}, ${p99(after).toFixed(0)} ms`,
      target: '≤ 300 ms',
      met: p99(after) <= 300,
    },
  ];
}

const parts: Readonly<Record<string, () => Promise<void>>> = { status, vendor, sandbox };
for (const name of PARTS) {
  const part = parts[name];
  if (part === undefined) throw new Error(`there is no part ${name}; there are ${Object.keys(parts).join(', ')}`);
  await part();
}
