// What a module keeps for an account, and what it does not: an empty account may go over into another, one that is in use never.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { byId, endVideosAfter, manifest, playExample } from '../support/capabilities.ts';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

const endVideosOf = endVideosAfter(afterEach);
let it: TestService;
beforeAll(async () => {
  it = await startTestService();
});
afterAll(() => it.stop());

const isEmpty = (accountId: string) => it.core.isEmptyAccount(it.core.db, accountId);

/** What makes the first thing of an account, by module. */
const first: Readonly<Record<string, string>> = {
  account: 'account.webhooks.register',
  queue: 'queue.create',
  cron: 'cron.create',
  vector: 'vector.upsert',
  errors: 'errors.capture',
  video: 'video.generate',
  ai: 'ai.batch.create',
};

test('every module says whether it keeps something', () => {
  // These keep nothing.
  const keeping = manifest.modules.filter(({ name }) => !['discovery', 'operator'].includes(name));
  expect(Object.keys(first).sort()).toEqual(keeping.map(({ name }) => name).sort());
  expect(keeping.filter((module) => module.isEmpty === undefined)).toEqual([]);
});

test.each(Object.values(first))('an account is empty until %s', async (id) => {
  const { accountId, secret } = await createTestAccount(it.core);
  expect(await isEmpty(accountId)).toBe(true);
  const [example] = byId(id).examples;
  if (example === undefined) throw new Error(`${id} has no example`);
  await playExample(endVideosOf(client(it.url, secret)), byId(id), example);
  expect(await isEmpty(accountId)).toBe(false);
});
