// Bounds time: how long others' calls take while wallets are locked is the guarantee.
// Wallets that someone else holds for long: their own calls wait, nobody else's do.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Lanes } from '../../src/core/wallet/lane/lanes.ts';
import { statement } from '../../src/db/statement.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { allowedMs, idleMsOf } from '../support/slowness.ts';
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

const DELAY_MS_MAX = 200;
/** Of each locked account: fewer than are refused at once. */
const OFFERED_MAX = 100;

const anything = statement('test_anything', 'SELECT 1 AS one');

let database: TestDatabase;
let shop: Shop;
let elsewhere: Shop;
let holder: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  const opened = await openShop(database.connection);
  // No call is told that its wallet stays locked while the delay of others is looked at.
  shop = { ...opened, lanes: new Lanes({ db: opened.db, log: silent, lockedForMs: 120_000 }) };
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

const LOOKS_MAX = 5;

/** A lock that delays others does so whenever one looks; a busy machine delays one of two calls only now and then. */
async function expectNoDelay(lookMs: () => Promise<number>): Promise<void> {
  for (let looks = 1; ; looks += 1) {
    const delayedMs = await lookMs();
    if (looks === LOOKS_MAX || delayedMs < DELAY_MS_MAX) return expect(delayedMs).toBeLessThan(allowedMs(DELAY_MS_MAX));
  }
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
  const offering = [first, second].map((account, i) =>
    setInterval(() => waiting.length < 2 * OFFERED_MAX && offer(account), 20 + i),
  );
  try {
    await expectNoDelay(() => delayMs(third, 2_000));
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
  let longestReadMs = { here: 0, elsewhere: 0 };
  const read = async (of: Shop, where: keyof typeof longestReadMs) => {
    const begunMs = performance.now();
    await of.db.hot.query(anything, []);
    longestReadMs[where] = Math.max(longestReadMs[where], performance.now() - begunMs);
  };
  const reading = setInterval(() => void Promise.all([read(shop, 'here'), read(elsewhere, 'elsewhere')]), 20);
  try {
    await expectNoDelay(async () => {
      longestReadMs = { here: 0, elsewhere: 0 };
      const delayedMs = await delayMs(free, 2_500);
      return Math.max(delayedMs, longestReadMs.here - longestReadMs.elsewhere);
    });
  } finally {
    clearInterval(reading);
  }
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
  await expectNoDelay(() => delayMs(free, 1_000, touching));
  await holder.query('ROLLBACK');
  expect(await Promise.all(waiting)).toEqual(['done', 'done']);
});

test('calls of a wallet that stays locked are told in time, and those that come meanwhile beyond a bound at once', async () => {
  const lanes = new Lanes({ db: shop.db, log: silent, lockedForMs: 3_000 });
  const [stuck] = (await openAccounts(1)) as [Account];
  await lockWalletsOf([stuck]);
  const told: Promise<string>[] = [];
  /** Whether the call waits; else it was refused at once. */
  const waits = () => {
    try {
      told.push(lanes.submit(call(stuck)).then(codeOf, ({ code }) => code));
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      return false;
    }
  };
  const first = Array.from({ length: 300 }, waits);
  expect(first).not.toContain(false);
  const { idleMs } = await idleMsOf(async () => {
    await expect.poll(waits, { interval: 50 }).toBe(false);
    expect(Array.from({ length: 100 }, waits)).not.toContain(true);
    expect(new Set(await Promise.all(told))).toEqual(new Set(['SERVICE_UNAVAILABLE']));
  });
  expect(idleMs).toBeLessThan(allowedMs(6_000));
  await holder.query('ROLLBACK');
  expect(codeOf(await lanes.submit(call(stuck)))).toBe('done');
  expect(await booksOf(shop.db, stuck.accountId)).toMatchObject({ charged: 20_000n });
});
