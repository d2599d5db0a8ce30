// How long revoked keys are seen, and what is left of them afterwards.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findOldKeys } from '../../src/core/keys/retention.ts';
import { listKeys } from '../../src/core/keys/store.ts';
import { coreSweeps } from '../../src/upkeep/sweeps.ts';
import { type House, openHouse } from './harness.ts';

const DAY_SECONDS = 86_400;
let house: House;

beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

const sql = async (text: string, values: string[] = []) =>
  (
    await house.core.db.query<Record<string, unknown>>(
      { name: `t_${Buffer.from(text).toString('base64url').slice(-50)}`, text },
      values,
    )
  ).rows;
const sweep = async () => {
  const found = coreSweeps(house.core, 3_650).find(({ name }) => name === 'keys.retention');
  await found?.run(AbortSignal.timeout(10_000));
  return found !== undefined;
};

test('revoked keys stay in the list for 30 days; then they are gone, and swept with their secrets', async () => {
  const accountId = await house.makeAccount();
  const admin = await house.makeKey(accountId);
  const target = await house.makeKey(accountId, { name: 'old' });
  const capped = await house.makeKey(accountId, { name: 'capped' });
  await sql('UPDATE core.api_key SET spend_cap_nanos = 5 WHERE key_id = $1', [capped.keyId]);
  const call = (capability: string, input: object = {}) =>
    house.call(admin.secret, `account.keys.${capability}`, input);
  const ids = async () => ((await call('list')).items as { key_id: string }[]).map(({ key_id: id }) => id);
  const rows = async () => (await sql('SELECT key_id FROM core.api_secret WHERE account_id = $1', [accountId])).length;
  for (const { keyId } of [target, capped]) await call('revoke', { key_id: keyId });
  await house.advance(30 * DAY_SECONDS - 60);
  expect(await sweep()).toBe(true);
  expect(await ids()).toEqual([capped.keyId, target.keyId, admin.keyId]);
  expect(await house.another().keys.find(target.secret)).toBe('revoked');
  await house.advance(61);
  expect(await ids()).toEqual([admin.keyId]);
  await expect(call('revoke', { key_id: target.keyId })).rejects.toMatchObject({ code: 'KEY_NOT_FOUND' });
  expect(await rows()).toBe(3);
  await sweep();
  expect(await rows()).toBe(2);
  // Scheduled work of the one with a cap is still charged under it.
  const left = await sql('SELECT key_id FROM core.api_key WHERE account_id = $1 ORDER BY key_id', [accountId]);
  expect(left).toEqual([{ key_id: admin.keyId }, { key_id: capped.keyId }]);
  expect(await ids()).toEqual([admin.keyId]);
  expect(await house.another().keys.find(target.secret)).toBe('unknown');
});

test('the list filters by status, page by page, and a cursor belongs to its filter', async () => {
  const accountId = await house.makeAccount();
  const admin = await house.makeKey(accountId);
  const call = (capability: string, input: object = {}) =>
    house.call(admin.secret, `account.keys.${capability}`, input);
  const made: string[] = [];
  for (let i = 0; i < 9; i += 1) made.push((await house.makeKey(accountId)).keyId);
  const [rotating, soon, ...rest] = made as [string, string, ...string[]];
  await call('rotate', { key_id: rotating, grace_hours: 1 });
  await sql(`UPDATE core.api_key SET expires_at = core.clock_now() - interval '1 second' WHERE key_id = $1`, [soon]);
  const revoked = rest.filter((_id, i) => i % 2 === 0);
  for (const id of revoked) await call('revoke', { key_id: id });
  const of = async (status: string) =>
    ((await call('list', { status })).items as { key_id: string }[]).map(({ key_id: id }) => id);
  const newestFirst = (ids: readonly string[]) => [...ids].sort().reverse();
  expect(await of('rotating')).toEqual([rotating]);
  expect(await of('expired')).toEqual([soon]);
  expect(await of('revoked')).toEqual(newestFirst(revoked));
  expect(await of('active')).toEqual(newestFirst([...rest.filter((id) => !revoked.includes(id)), admin.keyId]));
  const paged: string[] = [];
  let cursor: unknown;
  do {
    const page = await call('list', { status: 'revoked', limit: 2, ...(cursor === undefined ? {} : { cursor }) });
    paged.push(...(page.items as { key_id: string }[]).map(({ key_id: id }) => id));
    cursor = page.next_cursor ?? undefined;
    if (cursor !== undefined)
      await expect(call('list', { status: 'active', cursor })).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
  } while (cursor !== undefined);
  expect(paged).toEqual(newestFirst(revoked));
});

test('a page and the sweep go along an index, however many revoked keys there are', async () => {
  const accountId = await house.makeAccount();
  const { keyId } = await house.makeKey(accountId);
  await sql(
    `INSERT INTO core.api_key (account_id, key_id, project_id, prefix, last4, created_at, updated_at, revoked_at)
     SELECT CASE WHEN n % 4 = 0 THEN $1 ELSE 'acct_' || n % 100 END, $2 || n, '', '', '', now(), now(), core.clock_now()
       FROM generate_series(1, 20000) n`,
    [accountId, keyId],
  );
  await house.core.db.query({ name: 't_analyze', text: 'ANALYZE core.api_key' }, []);
  const plans = await house.core.db.transaction(async (tx) => {
    await listKeys(tx, accountId, keyId, 21);
    const explain = async (name: string, text: string) =>
      JSON.stringify((await tx.query({ name, text: `EXPLAIN ${text}` }, [])).rows);
    return [
      await explain('t_explain_page', `EXECUTE key_select_page('${accountId}', NULL, '21', NULL)`),
      await explain('t_explain_old', findOldKeys.text.replace('$1', '200')),
    ];
  });
  expect(plans[0]).toMatch(/Index Scan Backward using api_key_pkey/);
  expect(plans[0]).not.toMatch(/Sort|Seq Scan/);
  expect(plans[1]).toMatch(/api_key_revoked/);
  expect(plans[1]).not.toMatch(/Seq Scan/);
});
