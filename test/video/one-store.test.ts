// All processes of one database keep videos in one place: the first video decides which.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../cron/harness.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { QUICK } from './harness.ts';

let folder: string;
let first: TestService;
let second: TestService;
let atFirst: Client;
let atSecond: Client;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qm-videos-'));
  first = await startTestService({ env: { ROLES: 'web,render', ASSETS_URL: `file:${folder}` } });
  second = await startTestService({ database: first.database, env: { ROLES: 'web,render' } });
  const { secret } = await createTestAccount(first.core);
  atFirst = client(first.url, secret);
  atSecond = client(second.url, secret);
});
afterAll(async () => {
  await second.stop();
  await first.stop();
  await rm(folder, { recursive: true });
});

test('a process with another place refuses jobs once a video may be in the first, and does not start again', async () => {
  expect((await atFirst('POST', '/v1/video/generate', QUICK)).status).toBe(200);
  const refused = await atSecond('POST', '/v1/video/generate', QUICK);
  expect([refused.status, refused.body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  expect((await atSecond('GET', '/v1/account/balance')).body.data.held_usd).toBeGreaterThan(0);
  expect((await atSecond('GET', '/v1/video/list')).body.data.items).toHaveLength(1);
  await expect(startTestService({ database: first.database })).rejects.toThrow(/ASSETS_URL: what this database keeps/);
});

test('a process with the same place starts and makes the video', async () => {
  const third = await startTestService({ database: first.database, env: { ASSETS_URL: `file:${folder}` } });
  const [job] = (await atFirst('GET', '/v1/video/list')).body.data.items;
  const ended = await eventually(async () => {
    const { data } = (await atFirst('GET', `/v1/video/get/${job.job_id}`)).body;
    return data.finished_at === null ? null : data;
  });
  await third.stop();
  expect(ended.state).toBe('succeeded');
});
