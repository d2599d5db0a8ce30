// Floods by a known address: bodies of 1 MiB from 100 senders at once, and wrong signatures without end. Memory stays bounded, and another account
// is served meanwhile.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

const MIB = 1024 * 1024;
const SENDERS = 100;
const ROUNDS = 5;
/** A standard account: so many a second, and four seconds of them at once. */
const PER_SECOND = 100;
const BURST_SECONDS = 4;

/** A process of its own: what it needs is not the service's. Tells how often each status came; 0: refused before all of the body was read. */
const SENDER = `
  const [url, senders, rounds, bytes] = process.argv.slice(1);
  const body = Buffer.alloc(Number(bytes), 'x');
  const headers = { 'x-hub-signature-256': 'sha256=' + '0'.repeat(64) };
  const statuses = {};
  await Promise.all(Array.from({ length: Number(senders) }, async () => {
    for (let round = 0; round < Number(rounds); round += 1) {
      const status = await fetch(url, { method: 'POST', body, headers }).then(
        (reply) => reply.arrayBuffer().then(() => reply.status),
        () => 0,
      );
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  }));
  console.log(JSON.stringify(statuses));`;

async function flood(url: string, rounds: number, bytes: number): Promise<Record<string, number>> {
  const args = ['--input-type=module', '-e', SENDER, url, SENDERS, rounds, bytes].map(String);
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Record<string, number>;
}

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { RATE_LIMITS: 'on' } });
});
afterAll(() => service?.stop());

async function receiverOf(call: Client): Promise<string> {
  await call('POST', '/v1/queue/create', { name: 'inbound' });
  const { body } = await call('POST', '/v1/account/webhooks/receive/create', {
    name: 'flooded',
    verify: { scheme: 'github' },
    to: { queue: 'inbound' },
  });
  return service.url + new URL(body.data.url).pathname;
}

test('100 senders of 1 MiB at once: memory is bounded, and another account is served', async () => {
  const [mine, other] = await Promise.all([0, 1].map(() => createTestAccount(service.core)));
  const url = await receiverOf(client(service.url, mine?.secret));
  const victim = client(service.url, other?.secret);
  await victim('POST', '/v1/queue/create', { name: 'jobs' });
  const before = process.memoryUsage().rss;
  let rssMax = 0;
  const sampling = setInterval(() => {
    rssMax = Math.max(rssMax, process.memoryUsage().rss);
  }, 10);
  let isOver = false;
  const flooding = flood(url, ROUNDS, MIB).finally(() => {
    isOver = true;
  });
  let served = 0;
  while (!isOver) {
    const answer = await victim('POST', '/v1/queue/publish', { queue: 'jobs', payload: { served } });
    expect(answer.status).toBe(200);
    served += 1;
  }
  const statuses = await flooding;
  clearInterval(sampling);
  // One call after the other, beside a hundred senders.
  expect(served).toBeGreaterThan(ROUNDS * 10);
  expect(statuses[202] ?? 0).toBe(0);
  expect(statuses[401]).toBeGreaterThan(0);
  expect(rssMax - before).toBeLessThan(300 * MIB);
  const { body: consumed } = await client(service.url, mine?.secret)('POST', '/v1/queue/consume', { queue: 'inbound' });
  expect(consumed.data.items).toEqual([]);
});

test('a flood takes the rate of received webhooks, and leaves the account its reads', async () => {
  const account = await createTestAccount(service.core);
  const call = client(service.url, account.secret);
  const url = await receiverOf(call);
  const startedMs = performance.now();
  const { 401: looked = 0, 429: limited = 0 } = await flood(url, 20, 2);
  const seconds = (performance.now() - startedMs) / 1_000;
  expect(looked).toBeGreaterThanOrEqual(PER_SECOND * BURST_SECONDS);
  expect(looked).toBeLessThanOrEqual(PER_SECOND * (BURST_SECONDS + seconds));
  expect(looked + limited).toBe(20 * SENDERS);
  expect((await call('GET', '/v1/queue/list')).status).toBe(200);
});
