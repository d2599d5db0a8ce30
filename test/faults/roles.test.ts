// A deployment may split its processes into those that answer calls and those that do the background work.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

let api: TestService;
let worker: TestService;

beforeAll(async () => {
  api = await startTestService({ env: { ROLES: 'web,render' } });
  worker = await startTestService({ env: { ROLES: 'work,render' }, database: api.database });
});
afterAll(async () => {
  await worker?.stop();
  await api?.stop();
});

const tasksOf = async ({ url }: TestService) => {
  const { text } = await client(url)('GET', '/metrics');
  return new Set([...text.matchAll(/^qm_sweep_runs_total\{sweep="([\w.]+)"\}/gm)].map(([, name]) => name));
};

test('the role web answers calls and does only the work of its own process', async () => {
  const { secret } = await createTestAccount(api.core);
  expect((await client(api.url, secret)('GET', '/v1/account/balance')).status).toBe(200);
  const tasks = await tasksOf(api);
  expect(tasks).toContain('usage.flush');
  expect(tasks).not.toContain('wallet.grant_expiry');
});

test('the role work does the background work, says when it is ready, and answers no calls', async () => {
  const { secret } = await createTestAccount(worker.core);
  expect((await client(worker.url)('GET', '/readyz')).status).toBe(200);
  expect((await client(worker.url, secret)('GET', '/v1/account/balance')).body.error.code).toBe('NOT_FOUND');
  expect(await tasksOf(worker)).toContain('wallet.grant_expiry');
});
