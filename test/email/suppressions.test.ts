import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { suppress } from '../../src/modules/email/suppressions/suppressed.ts';
import { type DomainBench, type Owner, startDomainBench } from './domain-harness.ts';

let bench: DomainBench;
let owner: Owner;

beforeAll(async () => {
  bench = await startDomainBench();
});
beforeEach(async () => {
  owner = await bench.account();
});
afterAll(() => bench.stop());

const add = (address: string, of = owner) => of.call('POST', '/v1/email/suppression/add', { address });
const remove = (address: string, of = owner) =>
  of.call('DELETE', `/v1/email/suppression/delete/${encodeURIComponent(address)}`);
const addresses = async (query = '', of = owner) =>
  (await of.call('GET', `/v1/email/suppression/list${query}`)).body.data.items.map(({ address }: never) => address);

test('an address is suppressed in lower case, once, and taken off in any case', async () => {
  const first = await add('Grace@Bücher.test');
  expect(first.body.data).toMatchObject({ address: 'grace@xn--bcher-kva.test', reason: 'manual', email_id: null });
  expect((await add('grace@xn--bcher-kva.test')).body.data).toEqual(first.body.data);
  expect(await addresses()).toEqual(['grace@xn--bcher-kva.test']);
  expect((await remove('GRACE@xn--bcher-kva.test')).body.data).toMatchObject({ deleted: true });
  expect((await remove('grace@xn--bcher-kva.test')).body.data).toMatchObject({ deleted: false, status: 'not_found' });
  expect(await addresses()).toEqual([]);
});

test('an address that bounced keeps that reason, and its mail', async () => {
  const { accountId } = owner;
  const bounced = {
    accountId,
    address: 'gone@acme.test',
    reason: 'bounce',
    emailId: 'eml_1',
    nowMs: Date.now(),
  } as const;
  await bench.test.core.db.transaction((tx) => suppress(tx, bounced));
  expect((await add('gone@acme.test')).body.data).toMatchObject({ reason: 'bounce', email_id: 'eml_1' });
});

test('the list is by address, page by page, narrowed by reason, and of the account alone', async () => {
  const other = await bench.account();
  await add('other@acme.test', other);
  for (const name of ['c', 'a', 'b']) await add(`${name}@acme.test`);
  await bench.test.core.db.transaction((tx) =>
    suppress(tx, {
      accountId: owner.accountId,
      address: 'd@acme.test',
      reason: 'complaint',
      emailId: null,
      nowMs: Date.now(),
    }),
  );
  const { items, next_cursor } = (await owner.call('GET', '/v1/email/suppression/list?limit=2')).body.data;
  expect(items.map(({ address }: never) => address)).toEqual(['a@acme.test', 'b@acme.test']);
  expect(await addresses(`?cursor=${next_cursor}`)).toEqual(['c@acme.test', 'd@acme.test']);
  expect(await addresses('?reason=complaint')).toEqual(['d@acme.test']);
  await remove('other@acme.test');
  expect(await addresses('', other)).toEqual(['other@acme.test']);
});

test.each(['no address', 'a@b@c.test', 'a b@c.test', 'a@[192.0.2.1]', '@c.test', 'a@'])(
  '%s is refused',
  async (address) => {
    const { status, body } = await add(address);
    expect([status, body.error.code, body.error.param]).toEqual([400, 'VALIDATION_FAILED', 'address']);
  },
);

test('so many are suppressed by hand as the tier allows; what bounced does not count', async () => {
  await bench.test.core.db.query(
    {
      name: '',
      text: `INSERT INTO email.suppression (account_id, address, reason, created_at)
             SELECT w.account_id, n || '@acme.test', CASE WHEN n = 1 THEN 'bounce' ELSE 'manual' END, now()
               FROM core.wallet w, generate_series(1, 10000) n WHERE w.account_id = $1`,
    },
    [owner.accountId],
  );
  expect((await add('last@acme.test')).status).toBe(200);
  const { status, body } = await add('one-more@acme.test');
  expect([status, body.error.code]).toEqual([409, 'QUOTA_EXCEEDED']);
});
