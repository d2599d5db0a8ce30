// Answers nobody reads: bounded as bytes, per account and in all, and in time.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { bearer, metric, requestText, trialModule, untilMetric } from './harness.ts';

const MIB = 1024 * 1024;
let service: TestService;
let account: TestAccount;
const opened: Socket[] = [];

beforeAll(async () => {
  service = await startTestService({
    extraModules: [trialModule],
    // However busy the machine is, nobody is refused because turns come late.
    admission: { all: { answerBytesMax: 8 * MIB } },
  });
  account = await createTestAccount(service.core);
});
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await untilMetric(service, 'qm_answer_bytes', 0);
});
afterAll(() => service.stop());

/** Asks for so many MiB and reads none of them. */
async function neverReads(secret: string, answers: number, at = service): Promise<Socket> {
  const { hostname, port } = new URL(at.url);
  const socket = connect(Number(port), hostname).pause();
  opened.push(socket.on('error', () => undefined));
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(requestText('GET', '/v1/trial/long', [bearer(secret)]).repeat(answers));
  return socket;
}

test('one account that reads none of its answers holds a bounded number of bytes, and others do not notice', async () => {
  const other = client(service.url, (await createTestAccount(service.core)).secret);
  // The kernels of both sides take the first megabytes of each.
  for (let i = 0; i < 24; i += 1) await neverReads(account.secret, 12);
  let most = 0;
  for (let i = 0; i < 20; i += 1) {
    most = Math.max(most, await metric(service, 'qm_answer_bytes'));
    const { status, text, body } = await other('GET', '/v1/trial/long');
    expect([status, body.data?.text.length], text.slice(0, 500)).toEqual([200, MIB]);
  }
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(4 * MIB + 100_000);
});

test('an account with too much unread is refused before anything is done for it; when it has read, it goes on', async () => {
  const call = client(service.url, account.secret);
  for (let i = 0; i < 24; i += 1) await neverReads(account.secret, 12);
  await expect.poll(() => metric(service, 'qm_answer_bytes')).toBeGreaterThanOrEqual(2 * MIB);
  const refused = await call('GET', '/v1/account/balance');
  expect([refused.status, refused.body.error.code]).toEqual([429, 'CONCURRENCY_LIMITED']);
  for (const socket of opened.splice(0)) socket.destroy();
  await untilMetric(service, 'qm_answer_bytes', 0);
  expect((await call('GET', '/v1/account/balance')).status).toBe(200);
});

test('an answer that is not read in time ends its connection', async () => {
  const hasty = await startTestService({
    extraModules: [trialModule],
    admission: { connection: { lookEveryMs: 50, readGraceMs: 500, readBytesPerSecondMin: 100 * MIB } },
  });
  const socket = await neverReads((await createTestAccount(hasty.core)).secret, 16, hasty);
  await expect.poll(() => metric(hasty, 'qm_answer_bytes'), { interval: 5, timeout: 50_000 }).toBeGreaterThan(0);
  await untilMetric(hasty, 'qm_answer_bytes', 0);
  socket.resume();
  await new Promise((resolve) => socket.once('close', resolve));
  await hasty.stop();
});

test('a client that reads while it asks gets everything', async () => {
  const socket = await neverReads(account.secret, 16);
  let bytes = 0;
  socket.resume().on('data', (chunk) => {
    bytes += chunk.length;
  });
  await expect.poll(() => bytes).toBeGreaterThan(16 * MIB);
  await sleep(20);
  expect(await metric(service, 'qm_calls_running')).toBe(0);
});
