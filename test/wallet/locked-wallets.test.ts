// Wallets that someone else holds for long: their own calls wait, nobody else's do.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Lanes } from '../../src/core/wallet/lane/lanes.ts';
import { statement } from '../../src/db/statement.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { allowedMs } from '../support/slowness.ts';
import {
  type Account,
  booksOf,
  call,
  codeOf,
  openAccount,
  openShop,
  rowEffect,
  rowsOf,
  type Shop,
  silent,
} from './harness.ts';

const anything = statement('test_anything', 'SELECT 1 AS one');

let database: TestDatabase;
let shop: Shop;
let elsewhere: Shop;
let holder: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  shop = await openShop(database.connection);
  elsewhere = await openShop(database.connection);
  holder = new pg.Client(database.connection);
  await holder.connect();
});
afterEach(async () => {
  await holder.query('ROLLBACK');
  await shop.lanes.drain();
});
afterAll(async () => {
  await holder.end();
  await shop.end();
  await elsewhere.end();
  await database.drop();
});

function openAccounts(count: number): Promise<Account[]> {
  return Promise.all(Array.from({ length: count }, () => openAccount(shop.db, 1_000_000_000n)));
}

/** As slow transactions of somebody else would. */
async function lockWalletsOf(accounts: readonly Account[]): Promise<void> {
  await holder.query('BEGIN');
  for (const { accountId } of accounts)
    await holder.query('SELECT 1 FROM core.wallet WHERE account_id = $1 FOR UPDATE', [accountId]);
}

/** The longest that one call after another of the account took within `forMs`. */
async function longestCallMs(of: Shop, account: Account, forMs: number, effect = rowEffect()): Promise<number> {
  let longestMs = 0;
  for (const endMs = performance.now() + forMs; performance.now() < endMs; await sleep(5)) {
    const begunMs = performance.now();
    expect(codeOf(await of.lanes.submit(call(account, { effect })))).toBe('done');
    longestMs = Math.max(longestMs, performance.now() - begunMs);
  }
  return longestMs;
}

/** How much longer the account's calls take than those of another process that meets no lock: the machine may be busy. */
async function delayMs(account: Account, forMs: number, effect = rowEffect()): Promise<number> {
  const [apart] = (await openAccounts(1)) as [Account];
  const [longestMs, usualMs] = await Promise.all([
    longestCallMs(shop, account, forMs, effect),
    longestCallMs(elsewhere, apart, forMs, effect),
  ]);
  return longestMs - usualMs;
}

test('two locked wallets delay a third account by at most 200 ms, and lose none of their own calls', async () => {
  const [first, second, third] = (await openAccounts(3)) as [Account, Account, Account];
  const effect = rowEffect();
  await shop.lanes.submit(call(third, { effect }));
  await lockWalletsOf([first, second]);
  const waiting: Promise<string>[] = [];
  const offer = (account: Account) => waiting.push(shop.lanes.submit(call(account, { effect })).then(codeOf));
  for (const account of [first, second]) {
    offer(account);
    await sleep(10);
  }
  const offering = [first, second].map((account, i) => setInterval(() => offer(account), 20 + i));
  try {
    expect(await delayMs(third, 2_500)).toBeLessThan(allowedMs(200));
  } finally {
    for (const timer of offering) clearInterval(timer);
  }
  await holder.query('ROLLBACK');
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['done']));
  expect((await rowsOf(shop.db, first.accountId)) + (await rowsOf(shop.db, second.accountId))).toBe(waiting.length);
});

test('fifty locked wallets leave connections and turns to everyone else', async () => {
  const [free, ...locked] = (await openAccounts(51)) as [Account, ...Account[]];
  await lockWalletsOf(locked);
  const effect = rowEffect();
  const waiting = locked.map((account) => shop.lanes.submit(call(account, { effect })).then(codeOf));
  const longestReadMs = { here: 0, elsewhere: 0 };
  const read = async (of: Shop, where: keyof typeof longestReadMs) => {
    const begunMs = performance.now();
    await of.db.hot.query(anything, []);
    longestReadMs[where] = Math.max(longestReadMs[where], performance.now() - begunMs);
  };
  const reading = setInterval(() => void Promise.all([read(shop, 'here'), read(elsewhere, 'elsewhere')]), 20);
  try {
    expect(await delayMs(free, 2_500)).toBeLessThan(allowedMs(200));
  } finally {
    clearInterval(reading);
  }
  expect(longestReadMs.here - longestReadMs.elsewhere).toBeLessThan(allowedMs(200));
  await holder.query('ROLLBACK');
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['done']));
});

test('rows of effects that someone else holds delay no other account either', async () => {
  const [first, second, free] = (await openAccounts(3)) as [Account, Account, Account];
  const plain = rowEffect();
  const touch = statement('test_touch_account', 'UPDATE core.account SET name = name WHERE account_id = $1');
  const touching: typeof plain = {
    ...plain,
    async read(tx, items) {
      await Promise.all(items.map(({ accountId }) => tx.query(touch, [accountId])));
      return plain.read(tx, items);
    },
  };
  await holder.query('BEGIN');
  await holder.query('UPDATE core.account SET name = name WHERE account_id = ANY($1)', [
    [first.accountId, second.accountId],
  ]);
  const waiting: Promise<string>[] = [];
  for (const account of [first, second]) {
    waiting.push(shop.lanes.submit(call(account, { effect: touching })).then(codeOf));
    await sleep(10);
  }
  expect(await delayMs(free, 1_000, touching)).toBeLessThan(allowedMs(200));
  await holder.query('ROLLBACK');
  expect(await Promise.all(waiting)).toEqual(['done', 'done']);
});

test('calls of a wallet that stays locked are told in time, and those that come meanwhile beyond a bound at once', async () => {
  const lanes = new Lanes({ db: shop.db, log: silent, lockedForMs: 1_500 });
  const [stuck] = (await openAccounts(1)) as [Account];
  await lockWalletsOf([stuck]);
  const refusals: string[] = [];
  const submit = () =>
    Promise.resolve()
      .then(() => lanes.submit(call(stuck)))
      .catch((error: { code: string }) => void refusals.push(error.code));
  const first = submit();
  await sleep(700);
  const begunMs = performance.now();
  const more = Array.from({ length: 400 }, submit);
  await sleep(50);
  expect(refusals.length).toBeGreaterThan(200);
  expect(performance.now() - begunMs).toBeLessThan(allowedMs(500));
  await Promise.all([first, ...more]);
  expect(new Set(refusals)).toEqual(new Set(['SERVICE_UNAVAILABLE']));
  expect(refusals).toHaveLength(401);
  expect(performance.now() - begunMs).toBeLessThan(allowedMs(4_000));
  await holder.query('ROLLBACK');
  expect(codeOf(await lanes.submit(call(stuck)))).toBe('done');
  expect(await booksOf(shop.db, stuck.accountId)).toMatchObject({ charged: 20_000n });
});
