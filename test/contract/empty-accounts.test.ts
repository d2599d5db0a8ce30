// What a module keeps for an account, and what it does not: an empty account may go over into another, one that is in use never.
import { afterEach, beforeAll, expect, test } from 'vitest';
import { moduleOf } from '../../src/core/callers/scopes.ts';
import { statement } from '../../src/db/statement.ts';
import { byId, endVideosAfter, manifest, playExample } from '../support/capabilities.ts';
import { client, createTestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { tenantFixtures } from '../support/tenant-fixtures.ts';

const endVideosOf = endVideosAfter(afterEach);
let it: SharedService;
beforeAll(async () => {
  it = await sharedService();
});

const isEmpty = (accountId: string) => it.core.isEmptyAccount(it.core.db, accountId);

const tables = statement('', '/* fan-out: the catalogue */ SELECT DISTINCT schemaname AS name FROM pg_tables');
const first = (await tenantFixtures(manifest)).flatMap((fixture) => fixture.first ?? []);

test('every module with tables says whether it keeps something, and how that begins', async () => {
  const { rows } = await it.core.db.query<{ name: string }>(tables, []);
  const keeping = manifest.modules.filter(({ isEmpty }) => isEmpty !== undefined).map(({ name }) => name);
  expect(keeping.filter((name) => !first.map(moduleOf).includes(name))).toEqual([]);
  const withTables = manifest.modules.filter(({ name }) => rows.some((row) => row.name === name));
  expect(withTables.map(({ name }) => name).filter((name) => !keeping.includes(name))).toEqual([]);
});

test.each(first)('an account is empty until %s', async (id) => {
  const { accountId, secret } = await createTestAccount(it.core);
  expect(await isEmpty(accountId)).toBe(true);
  const [example] = byId(id).examples;
  if (example === undefined) throw new Error(`${id} has no example`);
  await playExample(endVideosOf(client(it.url, secret)), byId(id), example);
  expect(await isEmpty(accountId)).toBe(false);
});
