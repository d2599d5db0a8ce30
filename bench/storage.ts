// Objects, durable and billed: PUT and GET of 1 KB against the no-op of the same server, and 1 GiB streamed in and out against a copy and a flush
// of as much on the same disk, with what the process takes of memory meanwhile.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noop } from './support/flows.ts';
import { type Flow, get, type LoadResult, load, post } from './support/load.ts';
import { processorSeconds } from './support/processor.ts';
import { median, perSecond, print, type Row, ratioRow } from './support/report.ts';
import { type BenchAccount, startBenchService } from './support/service.ts';

const CONNECTIONS = 64;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const GIB = 1024 ** 3;
const LONG_BYTES = Number(process.env.BENCH_BYTES ?? GIB);
const BLOCK = Buffer.alloc(1024 * 1024, 'quartermaster ');
const CONTENT = 'x'.repeat(1_000);
const KEYS = 1_000;

const service = await startBenchService(1);
const { url } = service;
const [account] = service.accounts as [BenchAccount];
const call = (method: string, path: string, body: object) =>
  fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${account.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
await call('POST', '/v1/storage/bucket/create', { bucket: 'bench' });

function inTurn(requests: readonly Buffer[]): Flow {
  let sent = 0;
  return {
    next() {
      sent += 1;
      return requests[sent % requests.length] as Buffer;
    },
  };
}

const puts = inTurn(
  Array.from({ length: KEYS }, (_, n) =>
    post(
      url,
      '/v1/storage/object/put',
      account.secret,
      JSON.stringify({ bucket: 'bench', key: `k/${n}`, content: CONTENT }),
    ),
  ),
);
const gets = inTurn(
  Array.from({ length: KEYS }, (_, n) => get(url, `/v1/storage/object/get?bucket=bench&key=k%2F${n}`, account.secret)),
);

interface Measured extends LoadResult {
  readonly nodeUs: number;
}

async function measure(flow: Flow, connections: number, seconds = SECONDS): Promise<Measured> {
  const before = processorSeconds(service.pid);
  const result = await load({ url, connections, seconds, flow });
  if (result.failed > 0) throw new Error(`${result.failed} calls failed`);
  return { ...result, nodeUs: ((processorSeconds(service.pid) - before) / result.calls) * 1e6 };
}

const flows = {
  'no-op': () => noop(url, account),
  PUT: () => puts,
  GET: () => gets,
} as const;
type Kind = keyof typeof flows;
for (const flow of Object.values(flows)) await measure(flow(), CONNECTIONS, 5);
const found = new Map<Kind, Measured[]>();
for (let round = 0; round < ROUNDS; round += 1) {
  for (const kind of Object.keys(flows) as Kind[]) {
    found.set(kind, [...(found.get(kind) ?? []), await measure(flows[kind](), CONNECTIONS)]);
  }
}
const of = (kind: Kind, figure: 'rate' | 'p50Ms' | 'p99Ms' | 'nodeUs') =>
  (found.get(kind) ?? []).map((run) => run[figure]);
const against = (kind: Kind) => of(kind, 'rate').map((rate, i) => rate / (of('no-op', 'rate')[i] as number));
const alone = await measure(puts, 1);
const rows: Row[] = [
  ratioRow('GET of 1 KB / no-op', against('GET'), 0.6),
  ratioRow('PUT of 1 KB / no-op', against('PUT')),
  {
    what: 'PUT of 1 KB, one after the other',
    value: `p50 ${alone.p50Ms.toFixed(1)} ms, p99 ${alone.p99Ms.toFixed(1)} ms`,
    target: 'p50 ≤ 10 ms',
    met: alone.p50Ms <= 10,
  },
  ...(Object.keys(flows) as Kind[]).map((kind) => ({
    what: kind,
    value: `${perSecond(median(of(kind, 'rate')))}; ${median(of(kind, 'nodeUs')).toFixed(0)} µs Node a call; p50 ${median(of(kind, 'p50Ms')).toFixed(1)} ms, p99 ${median(of(kind, 'p99Ms')).toFixed(1)} ms`,
  })),
];
print(`Objects of 1 KB at ${CONNECTIONS} connections (${ROUNDS} interleaved rounds of ${SECONDS} s)`, rows);

/** Resident memory of the service, in MB. */
const residentMb = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1]) / 1_024;

/** Seconds that `work` takes, and the most memory meanwhile beyond what there was before. */
async function timed(work: () => Promise<void>): Promise<{ seconds: number; grownMb: number }> {
  const before = residentMb();
  let most = before;
  const looks = setInterval(() => {
    most = Math.max(most, residentMb());
  }, 50);
  const startedMs = performance.now();
  await work();
  clearInterval(looks);
  return { seconds: (performance.now() - startedMs) / 1_000, grownMb: most - before };
}

async function sendLong(): Promise<void> {
  const headers = { authorization: `Bearer ${account.secret}`, 'content-length': LONG_BYTES };
  const sent = request(`${url}/v1/storage/upload/bench/long`, { method: 'PUT', headers });
  const answered = once(sent, 'response');
  for (let left = LONG_BYTES; left > 0; left -= BLOCK.length) {
    if (!sent.write(BLOCK.subarray(0, left))) await once(sent, 'drain');
  }
  sent.end();
  const [reply] = await answered;
  reply.resume();
  if (reply.statusCode !== 200) throw new Error(`the upload was answered ${reply.statusCode}`);
}

async function readLong(): Promise<void> {
  const headers = { authorization: `Bearer ${account.secret}` };
  const read = (await (await fetch(`${url}/v1/storage/object/get?bucket=bench&key=long`, { headers })).json()) as {
    data: { url: string };
  };
  let bytes = 0;
  const [reply] = await once(request(read.data.url).end(), 'response');
  for await (const block of reply) bytes += block.length;
  if (bytes !== LONG_BYTES) throw new Error(`${bytes} bytes came`);
}

const folder = mkdtempSync(join(process.env.BENCH_FOLDER ?? tmpdir(), 'qm-copy-'));
const original = await open(join(folder, 'from'), 'w');
for (let left = LONG_BYTES; left > 0; left -= BLOCK.length) await original.write(BLOCK.subarray(0, left));
await original.sync();
await original.close();
async function copyLong(): Promise<void> {
  execFileSync('cp', [join(folder, 'from'), join(folder, 'to')]);
  execFileSync('sync', [join(folder, 'to')]);
  rmSync(join(folder, 'to'));
}

const long: { copy: number; in: number; out: number; grownMb: number }[] = [];
for (let round = 0; round < 3; round += 1) {
  const [copied, sent, read] = [await timed(copyLong), await timed(sendLong), await timed(readLong)];
  long.push({
    copy: copied.seconds,
    in: sent.seconds,
    out: read.seconds,
    grownMb: Math.max(sent.grownMb, read.grownMb),
  });
}
rmSync(folder, { recursive: true });
const megabytes = LONG_BYTES / 1e6;
const mbPerSecond = (of: 'copy' | 'in' | 'out') =>
  `${(megabytes / median(long.map((run) => run[of]))).toFixed(0)} MB/s`;
const grown = Math.max(...long.map((run) => run.grownMb));
print(`An object of ${megabytes.toFixed(0)} MB, three rounds`, [
  ratioRow(
    'in / cp and fsync',
    long.map((run) => run.copy / run.in),
    0.5,
  ),
  ratioRow(
    'out / cp and fsync',
    long.map((run) => run.copy / run.out),
    0.5,
  ),
  { what: 'cp and fsync, in, out', value: `${mbPerSecond('copy')}, ${mbPerSecond('in')}, ${mbPerSecond('out')}` },
  { what: 'memory beyond what there was', value: `${grown.toFixed(0)} MB`, target: '≤ 100 MB', met: grown <= 100 },
]);
await service.stop();
