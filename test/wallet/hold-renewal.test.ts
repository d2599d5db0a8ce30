// A hold lives as long as the work under it, however long that takes, and no longer than a term beyond the process that does it.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lockAccount } from '../../src/core/callers/lock.ts';
import { chargeForWork, chargeInLane } from '../../src/core/wallet/charge/charge.ts';
import { expireHold, keepHold, releaseHold } from '../../src/core/wallet/holds/settle-hold.ts';
import type { AuthorizedHold } from '../../src/core/wallet/lane/lane-item.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { booksOf, call, contextOf, openAccount, openShop, rowEffect, rowsOf, type Shop, silent } from './harness.ts';

const TERM_MS = 400;
const WORK_MS = 4 * TERM_MS;

let database: TestDatabase;
let shop: Shop;

beforeAll(async () => {
  database = await createTestDatabase();
  shop = await openShop(database.connection, silent, { termMs: TERM_MS });
});
afterAll(async () => {
  await shop.end();
  await database.drop();
});

/** The sweep, far more often than in service, until `work` has ended. */
async function whileSweeping<T>(work: Promise<T>): Promise<T> {
  const ended = new AbortController();
  const sweeping = (async () => {
    while (!ended.signal.aborted) {
      await shop.holds.expireOverdue(ended.signal);
      // sleeps: the pace of the sweep.
      await sleep(20);
    }
  })();
  try {
    return await work;
  } finally {
    ended.abort();
    await sweeping;
  }
}

const charge = { units: 3n, input: '1', sequences: 1, bytes: 300_000, rows: 1 } as const;

describe('the hold of work that takes several terms is not released', () => {
  test('while the effect is being written', async () => {
    const account = await openAccount(shop.db, 100_000n);
    const plain = rowEffect();
    const effect = {
      ...plain,
      writeLarge: async (...[tx, admitted, nowMs]: Parameters<NonNullable<typeof plain.writeLarge>>) => {
        await sleep(WORK_MS);
        return plain.write(tx, [admitted], nowMs)[0] as string;
      },
    };
    const answer = await whileSweeping(chargeInLane(contextOf(shop, account), { ...charge, effect }));
    expect(answer).toMatchObject({ costNanos: 60_000n, replayed: false });
    expect(await rowsOf(shop.db, account.accountId)).toBe(1);
    expect(await booksOf(shop.db, account.accountId)).toMatchObject({ charged: 60_000n, held: 0n, balance: 40_000n });
  });

  test('while the effect waits for its turn', async () => {
    const account = await openAccount(shop.db, 100_000n);
    const others = [1, 2].map(() => shop.holds.largeWrites(() => sleep(WORK_MS)));
    const answer = await whileSweeping(chargeInLane(contextOf(shop, account), { ...charge, effect: rowEffect() }));
    await Promise.all(others);
    expect(answer).toMatchObject({ costNanos: 60_000n, replayed: false });
  });

  test('while work that writes nothing goes on', async () => {
    const account = await openAccount(shop.db, 100_000n);
    const { bytes, rows, sequences, units } = charge;
    const working = chargeForWork(
      contextOf(shop, account),
      { bytes, rows, sequences, units, effect: rowEffect() },
      true,
      async () => {
        await sleep(WORK_MS);
        return '1';
      },
    );
    expect(await whileSweeping(working)).toMatchObject({ costNanos: 60_000n });
  });
});

async function authorize(over: object = {}) {
  const account = await openAccount(shop.db, 100_000n);
  const item = call(account, { holdMs: TERM_MS, holdOwner: 'test', ...over });
  const settled = await shop.holds.authorize(item);
  if (settled.kind !== 'held') throw new Error(settled.kind);
  return { account, hold: settled.hold as AuthorizedHold };
}

test('a transaction that works under a hold keeps it, even when nobody renews it', async () => {
  const { account, hold } = await authorize();
  await sleep(TERM_MS + 50);
  await shop.db.transaction(async (tx) => {
    expect(await keepHold(tx, account.accountId, hold.holdId)).toBe('active');
    await shop.db.transaction((other) => expireHold(other, account.accountId, hold.holdId));
  });
  expect(await booksOf(shop.db, account.accountId)).toMatchObject({ held: 20_000n });
});

test('a hold that was renewed after the sweep found it is left alone', async () => {
  const { account, hold } = await authorize();
  await shop.db.transaction((tx) => expireHold(tx, account.accountId, hold.holdId));
  expect(await booksOf(shop.db, account.accountId)).toMatchObject({ held: 20_000n });
});

test('who settles an overdue hold under the wallet lock, and the sweep beside it, are in no deadlock', async () => {
  const { account, hold } = await authorize();
  await sleep(TERM_MS + 50);
  const tries = { settling: 0, sweeping: 0 };
  let sweeping: Promise<void> | undefined;
  await shop.db.transaction(async (tx) => {
    tries.settling += 1;
    await lockAccount(tx, account.accountId);
    sweeping ??= shop.db.transaction((other) => {
      tries.sweeping += 1;
      return expireHold(other, account.accountId, hold.holdId);
    });
    await sleep(200);
    await releaseHold(tx, account.accountId, hold.holdId);
  });
  await sweeping;
  expect(tries).toEqual({ settling: 1, sweeping: 1 });
  expect(await booksOf(shop.db, account.accountId)).toMatchObject({ held: 0n, balance: 100_000n });
});

test('a hold whose process no longer renews it is released after the term, and its work cannot be charged any more', async () => {
  const { account, hold } = await authorize();
  await sleep(TERM_MS + 50);
  await shop.holds.expireOverdue(new AbortController().signal);
  expect(await booksOf(shop.db, account.accountId)).toMatchObject({ held: 0n, balance: 100_000n });
  const late = await shop.holds.capture(account.accountId, hold.holdId, { capturedNanos: 1n });
  expect(late).toMatchObject({ status: 'expired', settledNow: false });
});

test('a hold without end is never released by time, and always has an owner', async () => {
  const { account, hold } = await authorize({ holdMs: null, holdOwner: 'video:vid_1' });
  await shop.holds.expireOverdue(new AbortController().signal);
  expect(await booksOf(shop.db, account.accountId)).toMatchObject({ held: 20_000n });
  const orphan = shop.db.query(
    { name: '', text: 'UPDATE core.hold SET owner = NULL WHERE account_id = $1 AND hold_id = $2' },
    [account.accountId, hold.holdId],
  );
  await expect(orphan).rejects.toMatchObject({ code: '23502' });
  await shop.holds.release(account.accountId, hold.holdId);
  expect(await booksOf(shop.db, account.accountId)).toMatchObject({ held: 0n });
});
