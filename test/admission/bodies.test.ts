// Bodies under way: what has arrived counts, not what is announced; who sends too slowly is not waited for.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openRaw, type RawConnection } from '../support/raw.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { bearer, metric, untilMetric } from './harness.ts';

const MIB = 1024 * 1024;
const GRACE_MS = 300;
let service: TestService;
let accounts: TestAccount[];
const opened: RawConnection[] = [];

beforeAll(async () => {
  service = await startTestService({
    admission: {
      connection: { lookEveryMs: 20, uploadGraceMs: GRACE_MS, uploadBytesPerSecondMin: 100_000 },
      all: { bodyBytesMax: 4 * MIB },
    },
  });
  accounts = await Promise.all(Array.from({ length: 4 }, () => createTestAccount(service.core)));
  for (const { secret } of accounts) await client(service.url, secret)('POST', '/v1/queue/create', { name: 'jobs' });
});
afterEach(async () => {
  for (const raw of opened.splice(0)) raw.destroy();
  await untilMetric(service, 'qm_calls_running', 0);
  expect(await metric(service, 'qm_body_bytes')).toBe(0);
});
afterAll(() => service.stop());

/** Announces a batch of so many bytes, or a chunked one, and sends none of it. */
async function announce({ secret }: TestAccount, bytes: number | 'chunked'): Promise<RawConnection> {
  const raw = await openRaw(service.url);
  opened.push(raw);
  const length = bytes === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes}`;
  raw.send(`POST /v1/queue/batch/publish HTTP/1.1\r\nHost: here\r\n${bearer(secret)}\r\n${length}\r\n\r\n`);
  return raw;
}

const publish = ({ secret }: TestAccount, bytes: number) =>
  client(service.url, secret)('POST', '/v1/queue/publish', { queue: 'jobs', payload: { text: 'x'.repeat(bytes) } });

test('connections that announce all the memory there is, and send nothing, take none of it', async () => {
  for (const account of accounts) {
    for (let i = 0; i < 4; i += 1) await announce(account, i % 2 === 0 ? 4 * MIB : 'chunked');
  }
  await untilMetric(service, 'qm_calls_running', 16);
  expect(await metric(service, 'qm_body_bytes')).toBe(0);
  for (const account of accounts) expect((await publish(account, 100_000)).status).toBe(200);
});

test('one account fills its share and is told so; another finds room', async () => {
  const [greedy, other] = accounts as [TestAccount, TestAccount];
  const raws = await Promise.all([1, 2].map(() => announce(greedy, 3 * MIB)));
  for (let sent = 0; sent < 1.25 * MIB; sent += 0.25 * MIB) {
    for (const raw of raws) raw.send('x'.repeat(0.25 * MIB));
  }
  const received = async () => (await Promise.all(raws.map((raw) => raw.receive(() => true)))).join('');
  await expect.poll(received, { interval: 5 }).toMatch(/^HTTP\/1\.1 429 [\s\S]*"CONCURRENCY_LIMITED"/);
  expect(await metric(service, 'qm_body_bytes')).toBeLessThanOrEqual(2 * MIB);
  expect((await publish(other, 100_000)).status).toBe(200);
});

test('a body that comes byte by byte counts as the memory it takes', async () => {
  const raw = await announce(accounts[0] as TestAccount, 'chunked');
  for (let i = 0; i < 50; i += 1) {
    raw.send('1\r\nx\r\n');
    // sleeps: so that bytes come one by one
    await sleep(1);
  }
  await expect.poll(() => metric(service, 'qm_body_bytes')).toBeGreaterThan(256);
});

test('who sends slower than the least rate gets a bare 400 and the end; who is fast enough is waited for', async () => {
  const [idle, slow, steady] = await Promise.all(accounts.slice(0, 3).map((account) => announce(account, 400_000)));
  const text = `{"queue":"jobs","items":[{"payload":{"text":"${'x'.repeat(200_000)}"}}]}`.padEnd(400_000);
  for (let at = 0; at < text.length; at += 20_000) {
    steady?.send(text.slice(at, at + 20_000));
    if (at < 20_000) slow?.send('{');
    // sleeps: the rate is of the clock, and four times the least
    await sleep(GRACE_MS / 6);
  }
  expect(await steady?.receive()).toMatch(/^HTTP\/1\.1 200 /);
  for (const raw of [idle, slow]) {
    expect(await raw?.receive()).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n/);
    await expect.poll(() => raw?.closed, { interval: 5 }).toBe(true);
  }
});
