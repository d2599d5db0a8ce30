// Suspension by the command line, beside two running processes.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { client, createTestAccount, SECRETS_KEY, startTestService, type TestService } from '../support/service.ts';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');
const run = promisify(execFile);
/** Calls of each process that are sent after the command has ended. */
const LATE = 20;
let one: TestService;
let two: TestService;

beforeAll(async () => {
  // own service: has a second process
  one = await startTestService();
  two = await startTestService({ database: one.database });
});
afterAll(async () => {
  await two.stop();
  await one.stop();
});

test('when the command has ended, no call of the account succeeds on any process, free ones included', async () => {
  const { accountId, secret } = await createTestAccount(one.core);
  const calls = [one, two].map(({ url }) => client(url, secret));
  await calls[0]?.('POST', '/v1/queue/create', { name: 'jobs' });
  const answers: { by: number; sentMs: number; status: number }[] = [];
  let stopped = false;
  const hammers = calls.map(async (call, by) => {
    while (!stopped) {
      const sentMs = performance.now();
      answers.push({ by, sentMs, status: (await call('GET', '/v1/account/balance')).status });
    }
  });
  const qm = (...args: string[]) =>
    run(process.execPath, [MAIN, 'accounts', 'update', '--account', accountId, ...args], {
      env: { PATH: process.env.PATH, DATABASE_URL: one.database.url, SECRETS_KEY },
    });
  await qm('--suspend');
  const endedMs = performance.now();
  const late = (by: number) => answers.filter((answer) => answer.by === by && answer.sentMs > endedMs);
  for (const by of calls.keys()) await expect.poll(() => late(by).length).toBeGreaterThanOrEqual(LATE);
  stopped = true;
  await Promise.all(hammers);
  for (const by of calls.keys()) expect(late(by).filter(({ status }) => status !== 403)).toEqual([]);
  expect(answers.some(({ status }) => status === 200)).toBe(true);
  await qm('--unsuspend');
  for (const call of calls) expect((await call('GET', '/v1/account/balance')).status).toBe(200);
});
