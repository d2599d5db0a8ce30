import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Lanes } from '../../src/core/wallet/lane/lanes.ts';
import { lockWallets } from '../../src/core/wallet/lane/statements.ts';
import { textArray } from '../../src/db/arrays.ts';
import { Database } from '../../src/db/database.ts';
import { createTestDatabase, type TestDatabase, useAsDistributed } from '../support/database.ts';
import {
  booksOf,
  call,
  codeOf,
  idempotencyKey,
  openAccount,
  openShop,
  rowEffect,
  rowsOf,
  type Shop,
  silent,
} from './harness.ts';

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

describe('a lane', () => {
  test('charges and writes the effect of every call that the wallet covers, and of no other', async () => {
    const account = await openAccount(shop.db, 100_000n);
    const effect = rowEffect();
    const settled = await Promise.all(Array.from({ length: 8 }, () => shop.lanes.submit(call(account, { effect }))));
    expect(settled.map(codeOf)).toEqual([...Array(5).fill('done'), ...Array(3).fill('INSUFFICIENT_CREDIT')]);
    expect(await rowsOf(shop.db, account.accountId)).toBe(5);
    expect(await booksOf(shop.db, account.accountId)).toMatchObject({
      balance: 0n,
      grants: 0n,
      ledger: 0n,
      charged: 100_000n,
      spend: 100_000n,
      requests: 5n,
    });
  });

  test('one entry stands for the calls of a batch with the same capability and key', async () => {
    const account = await openAccount(shop.db, 1_000_000n);
    const effect = rowEffect();
    await Promise.all(Array.from({ length: 20 }, () => shop.lanes.submit(call(account, { effect }))));
    expect((await booksOf(shop.db, account.accountId)).entries).toBeLessThan(5n);
  });

  test('a call that PostgreSQL refuses fails alone; its neighbours succeed', async () => {
    const account = await openAccount(shop.db, 1_000_000n);
    const effect = rowEffect();
    const inputs = ['1', '2', '3', 'poison', '5', '6', '7', '8', '9'];
    const settled = await Promise.allSettled(
      inputs.map((input) => shop.lanes.submit(call(account, { effect, input }))),
    );
    expect(settled.map((outcome) => outcome.status)).toEqual(
      inputs.map((input) => (input === 'poison' ? 'rejected' : 'fulfilled')),
    );
    expect(await rowsOf(shop.db, account.accountId)).toBe(8);
    expect(await booksOf(shop.db, account.accountId)).toMatchObject({
      charged: 160_000n,
      balance: 840_000n,
      ledger: 840_000n,
    });
  });

  test('a local hint that throws after the commit does not charge again', async () => {
    const account = await openAccount(shop.db, 1_000_000n);
    const effect = rowEffect({
      committed: () => {
        throw new Error('no one to wake');
      },
    });
    const settled = await Promise.all([1, 2].map(() => shop.lanes.submit(call(account, { effect }))));
    expect(settled.map(codeOf)).toEqual(['done', 'done']);
    expect(await rowsOf(shop.db, account.accountId)).toBe(2);
    expect((await booksOf(shop.db, account.accountId)).charged).toBe(40_000n);
  });

  test('calls with one idempotency key are charged once, also at the same moment and later', async () => {
    const account = await openAccount(shop.db, 1_000_000n);
    const effect = rowEffect();
    const submit = (request = 'same') =>
      shop.lanes.submit(call(account, { effect, idempotency: idempotencyKey('k1', request) }));
    const settled = await Promise.all([submit(), submit(), submit(), submit('other')]);
    expect(settled.map(codeOf)).toEqual(['done', 'replayed', 'replayed', 'IDEMPOTENCY_KEY_REUSED']);
    const texts = new Set(settled.slice(0, 3).map((outcome) => (outcome as { text: string }).text));
    expect(texts.size).toBe(1);
    expect(codeOf(await submit())).toBe('replayed');
    expect(codeOf(await submit('other'))).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(await rowsOf(shop.db, account.accountId)).toBe(1);
    expect((await booksOf(shop.db, account.accountId)).charged).toBe(20_000n);
  });

  test('a refused call leaves its idempotency key free: after a top-up the same key succeeds', async () => {
    const account = await openAccount(shop.db, 10_000n);
    const effect = rowEffect();
    const submit = (amount: bigint) =>
      shop.lanes.submit(call(account, { effect, amount, idempotency: idempotencyKey('k2') }));
    expect(codeOf(await submit(20_000n))).toBe('INSUFFICIENT_CREDIT');
    expect(codeOf(await submit(5_000n))).toBe('done');
  });

  test('two processes on one wallet admit exactly what it covers', async () => {
    const other = await openShop(database.connection);
    try {
      const account = await openAccount(shop.db, 20_000n * 300n);
      const effect = rowEffect();
      const lanes = [shop.lanes, other.lanes];
      const settled = await Promise.all(
        Array.from({ length: 500 }, (_, i) => (lanes[i % 2] as typeof shop.lanes).submit(call(account, { effect }))),
      );
      expect(settled.filter((outcome) => outcome.kind === 'done')).toHaveLength(300);
      expect(await rowsOf(shop.db, account.accountId)).toBe(300);
      expect(await booksOf(shop.db, account.accountId)).toMatchObject({
        balance: 0n,
        grants: 0n,
        ledger: 0n,
        spend: 6_000_000n,
        requests: 300n,
      });
    } finally {
      await other.end();
    }
  });

  test('many accounts share commits and stay exact', async () => {
    const accounts = await Promise.all(Array.from({ length: 12 }, () => openAccount(shop.db, 100_000n)));
    const effect = rowEffect();
    const settled = await Promise.all(
      Array.from({ length: 120 }, (_, i) =>
        shop.lanes.submit(call(accounts[i % 12] as (typeof accounts)[0], { effect })),
      ),
    );
    expect(settled.filter((outcome) => outcome.kind === 'done')).toHaveLength(60);
    for (const { accountId } of accounts)
      expect(await booksOf(shop.db, accountId)).toMatchObject({ balance: 0n, grants: 0n, charged: 100_000n });
  });

  test('on a distributed engine a commit is of one shard, and those of others are on their way at the same time', async () => {
    await useAsDistributed(database);
    const db = new Database({ connection: database.connection, distributed: true, hotConnections: 8 });
    const lanes = new Lanes({ db, log: silent });
    const accounts = await Promise.all(Array.from({ length: 24 }, () => openAccount(shop.db, 1_000_000n)));
    const placement = db.placement as NonNullable<typeof db.placement>;
    await Promise.all(accounts.map(({ accountId }) => placement.learn(accountId)));
    const shardOf = ({ accountId }: { accountId: string }) => placement.shardOf(accountId);
    const shards = new Set(accounts.map(shardOf));
    expect(shards.size).toBeGreaterThan(1);
    expect(shards).not.toContain(null);
    const commits: ReturnType<typeof shardOf>[][] = [];
    const allUnderWay = Promise.withResolvers<void>();
    const effect: ReturnType<typeof rowEffect> = {
      ...rowEffect(),
      async read(_tx, items) {
        commits.push(items.map(shardOf));
        if (commits.length === shards.size) allUnderWay.resolve();
        await allUnderWay.promise;
        return items.map(() => ({ kind: 'go', context: null }));
      },
    };
    const settled = await Promise.all(accounts.map((account) => lanes.submit(call(account, { effect }))));
    expect(settled.map(codeOf)).toEqual(accounts.map(() => 'done'));
    expect(commits.filter((of) => new Set(of).size !== 1)).toEqual([]);
    expect(commits.length).toBeLessThan(accounts.length);
    for (const { accountId } of accounts) expect(await rowsOf(shop.db, accountId)).toBe(1);
    await db.end();
  });

  test('a wallet that someone else holds makes its own calls wait, and fails no other account', async () => {
    const [stuck, free] = await Promise.all([openAccount(shop.db, 100_000n), openAccount(shop.db, 100_000n)]);
    const effect = rowEffect();
    const [locked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holder = shop.db.transaction(async (tx) => {
      await tx.query(lockWallets, [textArray([stuck.accountId])]);
      locked.resolve();
      await gate.promise;
    });
    await locked.promise;
    const waiting = shop.lanes.submit(call(stuck, { effect }));
    expect(codeOf(await shop.lanes.submit(call(free, { effect })))).toBe('done');
    // The account has its turn again, although its neighbour of the shared commit still waits.
    expect(codeOf(await shop.lanes.submit(call(free, { effect })))).toBe('done');
    gate.resolve();
    expect(codeOf(await waiting)).toBe('done');
    await holder;
    await shop.lanes.drain();
    expect(await rowsOf(shop.db, stuck.accountId)).toBe(1);
    expect(await rowsOf(shop.db, free.accountId)).toBe(2);
  });
});
