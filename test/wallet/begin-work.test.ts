// Work that goes on after its call: hold, effect and answer are one commit; only the end of the work settles the hold.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LaneItem } from '../../src/core/wallet/lane/lane-item.ts';
import { statement } from '../../src/db/statement.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  type Account,
  booksOf,
  call,
  codeOf,
  idempotencyKey,
  openAccount,
  openShop,
  rowsOf,
  type Shop,
} from './harness.ts';

const OWNER = 'video:vid_1';
const KEEP_MS = 30 * 24 * 60 * 60_000;

const readHolds = statement(
  'test_begin_holds',
  'SELECT hold_id, amount_nanos, expires_at, owner, status FROM core.hold WHERE account_id = $1 ORDER BY hold_id',
);

interface HoldRow {
  readonly hold_id: string;
  readonly amount_nanos: bigint;
  readonly expires_at: number | null;
  readonly owner: string;
  readonly status: string;
}

let database: TestDatabase;
let shop: Shop;
beforeAll(async () => {
  database = await createTestDatabase();
  shop = await openShop(database.connection);
});
afterAll(async () => {
  await shop.end();
  await database.drop();
});

const begin = (account: Account, over: Partial<LaneItem<string, null>> = {}) =>
  call(account, { mode: 'begin', amount: 60_000n, holdMs: null, holdOwner: OWNER, keepMs: KEEP_MS, ...over });
const holdsOf = async (account: Account) => (await shop.db.query<HoldRow>(readHolds, [account.accountId])).rows;

test('what begins is held for and written at once, costs nothing yet, and the hold never ends by itself', async () => {
  const account = await openAccount(shop.db, 100_000n);
  const outcome = await shop.lanes.submit(begin(account));
  expect(outcome).toMatchObject({ kind: 'done', costNanos: 0n, balanceNanos: 40_000n });
  expect(await rowsOf(shop.db, account.accountId)).toBe(1);
  const [hold, ...others] = await holdsOf(account);
  expect(others).toEqual([]);
  expect(hold).toMatchObject({ amount_nanos: 60_000n, expires_at: null, owner: OWNER, status: 'active' });
  expect(await booksOf(shop.db, account.accountId)).toMatchObject({ balance: 100_000n, held: 60_000n, charged: 0n });
  const end = await shop.holds.capture(account.accountId, hold?.hold_id ?? '', { capturedNanos: 25_000n, units: 5n });
  expect(end).toMatchObject({ status: 'captured', balanceNanos: 75_000n });
  expect(await booksOf(shop.db, account.accountId)).toMatchObject({ balance: 75_000n, held: 0n, charged: 25_000n });
});

test('a repeat of its idempotency key is answered the same while the work goes on, and begins nothing', async () => {
  const account = await openAccount(shop.db, 100_000n);
  const idempotency = idempotencyKey('begun');
  const first = await shop.lanes.submit(begin(account, { idempotency }));
  const again = await shop.lanes.submit(begin(account, { idempotency }));
  expect(again).toMatchObject({ kind: 'replayed', text: first.kind === 'done' ? first.text : '' });
  expect(await holdsOf(account)).toHaveLength(1);
  expect(await rowsOf(shop.db, account.accountId)).toBe(1);
  await shop.holds.release(account.accountId, (await holdsOf(account))[0]?.hold_id ?? '');
  expect(await shop.lanes.submit(begin(account, { idempotency }))).toMatchObject({ kind: 'replayed' });
});

test('what the wallet does not cover begins nothing', async () => {
  const account = await openAccount(shop.db, 50_000n);
  expect(codeOf(await shop.lanes.submit(begin(account)))).toBe('INSUFFICIENT_CREDIT');
  expect(await holdsOf(account)).toEqual([]);
  expect(await rowsOf(shop.db, account.accountId)).toBe(0);
});

test('together, charges and beginnings get what is theirs, and never more than there is', async () => {
  const account = await openAccount(shop.db, 150_000n);
  const items = Array.from({ length: 8 }, (_, i) =>
    i % 2 === 0 ? begin(account) : call(account, { amount: 10_000n }),
  );
  const kinds = (await Promise.all(items.map((item) => shop.lanes.submit(item)))).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'done').length).toBe(2 + 3);
  expect(await booksOf(shop.db, account.accountId)).toMatchObject({
    balance: 120_000n,
    held: 120_000n,
    holds: 120_000n,
  });
});

test('a beginning whose effect fails leaves neither hold nor answer', async () => {
  const account = await openAccount(shop.db, 100_000n);
  const poisoned = begin(account, { input: 'no number', idempotency: idempotencyKey('poison') });
  await expect(shop.lanes.submit(poisoned)).rejects.toThrow();
  expect(await holdsOf(account)).toEqual([]);
  expect(await booksOf(shop.db, account.accountId)).toMatchObject({ held: 0n, reserved: 0n });
});
