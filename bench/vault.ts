// What does a call by path take beside the guarded client alone, to the same target, and beside a publish, which is one commit as well? One after
// the other, so that it is the time of one call. And a gigabyte each way: what it takes of memory, and how long the event loop is held.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import ipaddr from 'ipaddr.js';
import { createOutboundClient } from '../src/vendors/http/client.ts';
import type { OutboundRequest } from '../src/vendors/http/port.ts';
import { median, print } from './support/report.ts';
import { startBenchService } from './support/service.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 15);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 1);
const SOURCES = '127.77.0.0/16';
const MOST_MS = 1;
/** The buffers of sockets and of what the collector has not looked at. */
const GROWN_MB = 100;
const TURN_MS = 20;
const QUEUE = 'published';
const PUBLISHED = JSON.stringify({ queue: QUEUE, payload: { id: 1 } });

const PIECE = Buffer.alloc(64 * 1024, 'a piece of an answer ');
const PIECES = Number(process.env.BENCH_MIB ?? 1_024) * 16;

const server = createServer((request, response) => {
  if (request.method === 'PUT') {
    request.resume().on('end', () => response.end('taken'));
    return;
  }
  if (request.url === '/long') {
    void pipeline(Readable.from(pieces()), response);
    return;
  }
  response.end('{"id":1,"name":"an answer of some two hundred bytes"}'.padEnd(200));
});

async function* pieces() {
  for (let i = 0; i < PIECES; i += 1) yield PIECE;
}

await new Promise<void>((resolve) => server.listen(0, '127.77.0.1', resolve));
const host = `127.77.0.1:${(server.address() as AddressInfo).port}`;

const service = await startBenchService(1, 'off', 1, { ALLOW_PRIVATE_SOURCES: SOURCES });
const { url, accounts } = service;
const [account] = accounts;
if (account === undefined) throw new Error('no account');
const headers = { authorization: `Bearer ${account.secret}`, 'content-type': 'application/json' };
const connection = { connection: 'bench', kind: 'bearer', secret: 'token-of-the-benchmark', hosts: [host] };
const set = await fetch(`${url}/v1/vault/connection/set`, {
  method: 'PUT',
  headers,
  body: JSON.stringify(connection),
});
if (!set.ok) throw new Error(await set.text());
const ranges = [SOURCES, '127.0.0.0/8'].map((range) => ipaddr.parseCIDR(range));
const outbound = createOutboundClient({ allowPrivateTargets: [], allowPrivateSources: ranges });

/** Median of one call by the guarded client, ms. */
async function timed(url: string, sent: Partial<OutboundRequest> = {}): Promise<number> {
  const times: number[] = [];
  const limits = { firstByteMs: 5_000, idleMs: 5_000, totalMs: 10_000, answerBytesMax: 65_536 };
  const { signal } = new AbortController();
  const end = performance.now() + SECONDS * 1_000;
  while (performance.now() < end) {
    const began = performance.now();
    const reply = await outbound.send({ url, method: 'GET', ...sent, limits, signal });
    if (reply.kind === 'failed' || reply.status !== 200) throw new Error(JSON.stringify(reply));
    for await (const _ of reply.body);
    times.push(performance.now() - began);
  }
  return median(times);
}

const alone = () => timed(`http://${host}/x`);
const byPath = () => timed(`${url}/v1/vault/to/bench/x`, { headers });
const publish = () => timed(`${url}/v1/queue/publish`, { method: 'POST', headers, body: PUBLISHED });
await service.call(account.secret, '/v1/queue/create', { name: QUEUE });
for (const each of [byPath, alone, publish]) await each();

interface Flow {
  readonly mibPerSecond: number;
  readonly grownMb: number;
  readonly turnMs: number;
}

/** A gigabyte by path: how fast, how much memory more than before at the most, and the longest turn of the event loop. */
async function flowOf(way: 'down' | 'up'): Promise<Flow> {
  const before = service.memoryMb();
  let most = before;
  const looking = setInterval(() => {
    most = Math.max(most, service.memoryMb());
  }, 50);
  await service.longestTurn();
  const began = performance.now();
  const body = Readable.toWeb(Readable.from(pieces())) as ReadableStream;
  const sent = way === 'down' ? {} : { method: 'PUT', body, duplex: 'half' };
  const answer = await fetch(`${url}/v1/vault/to/bench/long`, { headers, ...sent } as RequestInit);
  if (!answer.ok || answer.body === null) throw new Error(await answer.text());
  for await (const _ of answer.body);
  const seconds = (performance.now() - began) / 1_000;
  clearInterval(looking);
  const { ms } = await service.longestTurn();
  return { mibPerSecond: (PIECES * PIECE.length) / 2 ** 20 / seconds, grownMb: most - before, turnMs: ms };
}

const rounds: { readonly alone: number; readonly byPath: number; readonly publish: number }[] = [];
for (let round = 0; round < ROUNDS; round += 1)
  rounds.push({ alone: await alone(), byPath: await byPath(), publish: await publish() });
const flows = [await flowOf('down'), await flowOf('up')];
await service.stop();
await outbound.close();
server.close();
const ms = (name: 'alone' | 'byPath' | 'publish') => `${median(rounds.map((round) => round[name])).toFixed(2)} ms`;
const more = median(rounds.map((round) => round.byPath - round.alone));
const ofPublish = median(rounds.map((round) => round.byPath / round.publish));
print(`Calls by path, one after the other (${ROUNDS} rounds of ${SECONDS} s)`, [
  { what: 'the guarded client alone, median', value: ms('alone') },
  { what: 'by path, median', value: ms('byPath') },
  { what: 'a publish, median', value: ms('publish') },
  { what: 'by path / a publish', value: ofPublish.toFixed(2) },
  ...flows.flatMap(({ mibPerSecond, grownMb, turnMs }, i) => {
    const what = `${(PIECES * PIECE.length) / 2 ** 20} MiB ${i === 0 ? 'down' : 'up'}`;
    return [
      { what: `${what}: rate`, value: `${mibPerSecond.toFixed(0)} MiB/s` },
      {
        what: `${what}: memory grown`,
        value: `${grownMb.toFixed(0)} MB`,
        target: `≤ ${GROWN_MB} MB`,
        met: grownMb <= GROWN_MB,
      },
      {
        what: `${what}: longest turn`,
        value: `${turnMs.toFixed(1)} ms`,
        target: `≤ ${TURN_MS} ms`,
        met: turnMs <= TURN_MS,
      },
    ];
  }),
  { what: 'more by path', value: `${more.toFixed(2)} ms`, target: `≤ ${MOST_MS} ms`, met: more <= MOST_MS },
]);
