// Large upserts, and answers with many numbers, do not stand in the way of other calls: long bodies are read in threads and written
// slice by slice, long answers are written in turns. What counts is the processor time that the event loop is kept busy at a stretch,
// as a share of what reading the body of an upsert at once would keep it busy: that share does not depend on the machine. What new memory
// takes, which a body or a collection of garbage needs at once, is not counted.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freshMemoryMs } from '../support/slowness.ts';
import { base64, numbers, VectorBench } from './harness.ts';

const DIMENSION = 1_536;
const VECTORS = 1_000;
// The longest stretch is some 0.2, and 0.3 while other programs run; an upsert of base64 that is read at once comes to 0.8, of numbers to 7.
const STRETCH_SHARE_MAX = 0.4;
const ROUNDS_MAX = 10;

let bench: VectorBench;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'qm-vectors-'));
  bench = await VectorBench.start();
  await bench.create('docs', DIMENSION);
  await bench.ok('POST', '/v1/queue/create', { name: 'jobs' });
  // Threads and statements are made ready, and functions compiled.
  for (const form of ['numbers', 'base64'] as const)
    for (let i = 0; i < 2; i += 1) await stretchDuring(await sender(bodyOf(300, form)));
});
afterAll(async () => {
  await bench.service.stop();
  await rm(directory, { recursive: true });
});

function bodyOf(count: number, form: 'numbers' | 'base64'): string {
  const row = numbers(DIMENSION, 7);
  const embedding = form === 'numbers' ? JSON.stringify(row) : JSON.stringify(base64(row));
  const vectors = Array.from(
    { length: count },
    (_, i) => `{"id":"v${i}","embedding":${embedding},"metadata":{"i":${i}}}`,
  );
  return `{"collection":"docs","vectors":[${vectors.join(',')}],"idempotency_key":"${form}-${Math.random()}"}`;
}

const SEND = `
  import { readFileSync } from 'node:fs';
  const [url, secret, file, path] = process.argv.slice(1);
  const headers = { authorization: 'Bearer ' + secret, 'content-type': 'application/json' };
  const reply = await fetch(url + path, { method: 'POST', headers, body: readFileSync(file) });
  const { ok } = await reply.json();
  process.exitCode = ok ? 0 : 1;
`;

/** Sends the body from a process of its own, once called; resolves when it was answered with 200. */
async function sender(body: string, path = '/v1/vector/upsert'): Promise<() => Promise<void>> {
  const file = join(directory, 'body.json');
  await writeFile(file, body);
  return async () => {
    const values = [bench.service.url, bench.account.secret, file, path];
    const child = spawn(process.execPath, ['--input-type=module', '-e', SEND, ...values], { stdio: 'inherit' });
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
  };
}

/** The longest time, ms of this thread's processor time, between two turns of the event loop while `work` runs and jobs are published. */
async function stretchDuring(work: () => Promise<void>): Promise<number> {
  let running = true;
  const publishing = async () => {
    while (running) await bench.ok('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} });
  };
  const others = publishing();
  const watching = longestStretch(() => running);
  await work();
  running = false;
  await others;
  return watching;
}

async function longestStretch(goOn: () => boolean): Promise<number> {
  let longest = 0;
  for (let before = cpuMs(); goOn(); ) {
    await turn();
    const now = cpuMs();
    longest = Math.max(longest, now - before);
    before = now;
  }
  return longest;
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

let whole: string | undefined;

/** Processor time, ms, of reading a body of numbers at once on this thread, as fast as it is just now. */
function wholeReadMs(): number {
  whole ??= bodyOf(VECTORS, 'numbers');
  const before = cpuMs();
  JSON.parse(whole);
  return cpuMs() - before;
}

/**
 * The longest stretch of a round as a share of reading the large body at once; of several rounds the first that is short enough. What is
 * read or written at once is so in each; a collection of the whole heap, or other programs that take the caches from a stretch, are in some.
 */
async function stretchShare(round: () => Promise<() => Promise<void>>): Promise<number> {
  const shares: number[] = [];
  do {
    const stretchMs = await stretchDuring(await round());
    shares.push((stretchMs - freshMemoryMs()) / wholeReadMs());
  } while (Math.min(...shares) >= STRETCH_SHARE_MAX && shares.length < ROUNDS_MAX);
  return Math.min(...shares);
}

const PATIENT = { timeout: 120_000 };

test.each(['numbers', 'base64'] as const)(
  'an upsert of 1,000 x 1,536 floats as %s keeps the event loop busy for a small part of reading such a body at once',
  PATIENT,
  async (form) => {
    expect(await stretchShare(() => sender(bodyOf(VECTORS, form)))).toBeLessThan(STRETCH_SHARE_MAX);
    expect((await bench.get('docs')).vector_count).toBe(VECTORS);
  },
);

test('an answer with as many numbers as one may hold', PATIENT, async () => {
  const ids = Array.from({ length: 170 }, (_, i) => `v${i}`);
  const body = { collection: 'docs', embedding: numbers(DIMENSION), top_k: 85, include_values: true };
  const ask = [
    { path: '/v1/vector/fetch', body: { collection: 'docs', ids, include_values: true } },
    { path: '/v1/vector/query', body },
  ];
  for (const { path, body } of ask) {
    expect(await stretchShare(() => sender(JSON.stringify(body), path)), path).toBeLessThan(STRETCH_SHARE_MAX);
  }
});
