// Objects by S3 beside a raw Node server that answers the same bytes from a file: GET of 4 KB by processor time, GET of 64 MB by speed, and a single
// PUT of 4 KB. All requests are signed in the query, as those of pages are.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Flow, load } from './support/load.ts';
import { processorSeconds } from './support/processor.ts';
import { print, ratioRow } from './support/report.ts';
import { type BenchAccount, startBenchService } from './support/service.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const CONNECTIONS = 16;
const SHORT = Buffer.alloc(4_096, 'quartermaster ');
const LONG = Buffer.alloc(64 * 1_024 * 1_024, 'quartermaster ');
const RAW = `
  import { createReadStream, statSync } from 'node:fs';
  import { createServer } from 'node:http';
  createServer((request, response) => {
    const path = process.argv[1] + request.url;
    response.writeHead(200, { 'content-length': statSync(path).size, 'content-type': 'application/octet-stream' });
    createReadStream(path).pipe(response);
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;

const folder = mkdtempSync(join(tmpdir(), 'qm-raw-'));
writeFileSync(join(folder, 'short'), SHORT);
writeFileSync(join(folder, 'long'), LONG);
const raw: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', RAW, folder], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [told] = await once(raw.stdout as NodeJS.ReadableStream, 'data');
const rawUrl = `http://127.0.0.1:${String(told).trim()}`;
const service = await startBenchService(1);
const { url } = service;
const [account] = service.accounts as [BenchAccount];
const call = async (path: string, body: object) => {
  const headers = { authorization: `Bearer ${account.secret}`, 'content-type': 'application/json' };
  const reply = await fetch(`${url}/v1/storage/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return ((await reply.json()) as { data: { url: string } }).data;
};
const presign = async (key: string, method: string) => (await call('presign', { bucket: 'bench', key, method })).url;
await call('bucket/create', { bucket: 'bench' });
for (const [key, body] of [
  ['short', SHORT],
  ['long', LONG],
] as const) {
  const { status } = await fetch(await presign(key, 'PUT'), { method: 'PUT', body: new Uint8Array(body) });
  if (status !== 200) throw new Error(`the PUT of ${key} was answered ${status}`);
}

const ask = (method: string, address: string, body = Buffer.alloc(0)): Flow => {
  const { host, pathname, search } = new URL(address);
  const length = body.length === 0 ? '' : `Content-Length: ${body.length}\r\n`;
  const sent = Buffer.concat([
    Buffer.from(`${method} ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n${length}\r\n`),
    body,
  ]);
  return { next: () => sent };
};

async function microseconds(pid: number, of: string, flow: Flow): Promise<number> {
  const before = processorSeconds(pid);
  const { calls, failed } = await load({ url: of, connections: CONNECTIONS, seconds: SECONDS, flow });
  if (failed > 0) throw new Error(`${failed} calls failed`);
  return ((processorSeconds(pid) - before) / calls) * 1e6;
}

/** Bytes a second. */
async function speed(address: string): Promise<number> {
  const beganMs = performance.now();
  const [reply] = await once(request(address).end(), 'response');
  let bytes = 0;
  for await (const block of reply) bytes += block.length;
  if (bytes !== LONG.length) throw new Error(`${bytes} bytes came`);
  return bytes / (performance.now() - beganMs);
}

const [short, long] = [await presign('short', 'GET'), await presign('long', 'GET')];
await microseconds(service.pid, url, ask('GET', short));
await microseconds(raw.pid as number, rawUrl, ask('GET', `${rawUrl}/short`));
const costs: number[] = [];
const speeds: number[] = [];
const each: string[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const own = await microseconds(service.pid, url, ask('GET', short));
  const theirs = await microseconds(raw.pid as number, rawUrl, ask('GET', `${rawUrl}/short`));
  each.push(`${own.toFixed(0)} / ${theirs.toFixed(0)}`);
  costs.push(own / theirs);
  for (let i = 0; i < 4; i += 1) speeds.push((await speed(long)) / (await speed(`${rawUrl}/long`)));
}
const put = await load({ url, connections: 1, seconds: SECONDS, flow: ask('PUT', await presign('put', 'PUT'), SHORT) });
print(`Objects by S3 beside a raw Node server (${ROUNDS} interleaved rounds)`, [
  ratioRow('GET of 64 MB: speed / raw', speeds, 0.8),
  ratioRow('GET of 4 KB: processor time / raw (≤ 2)', costs),
  { what: 'GET of 4 KB: µs of the service / of raw', value: each.join(', ') },
  {
    what: 'PUT of 4 KB, one after the other',
    value: `p50 ${put.p50Ms.toFixed(1)} ms, p99 ${put.p99Ms.toFixed(1)} ms`,
    target: 'p50 ≤ 10 ms',
    met: put.p50Ms <= 10,
  },
]);
raw.kill();
rmSync(folder, { recursive: true });
await service.stop();
