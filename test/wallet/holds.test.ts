import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { chargeInLane } from '../../src/core/wallet/charge/charge.ts';
import { expireGrants, grantCredit } from '../../src/core/wallet/grants.ts';
import { settleHold, settleHolds } from '../../src/core/wallet/holds/settle-hold.ts';
import type { AuthorizedHold, LaneItem } from '../../src/core/wallet/lane/lane-item.ts';
import { HOUR_MS } from '../../src/lib/time.ts';
import { problem } from '../../src/problems/problem.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { setClock } from './clock.ts';
import {
  type Account,
  booksOf,
  call,
  codeOf,
  contextOf,
  idempotencyKey,
  openAccount,
  openShop,
  rowEffect,
  rowsOf,
  type Shop,
} from './harness.ts';

const START_MS = Date.UTC(2026, 5, 30, 23);

let database: TestDatabase;
let shop: Shop;

beforeAll(async () => {
  database = await createTestDatabase();
  shop = await openShop(database.connection);
});
afterEach(() => setClock(shop.db, START_MS));
afterAll(async () => {
  await shop.end();
  await database.drop();
});

async function hold(account: Account, over: Partial<LaneItem<string, null>> = {}): Promise<AuthorizedHold> {
  const outcome = await shop.holds.authorize(call(account, over));
  if (outcome.kind !== 'held') throw new Error(codeOf(outcome));
  return outcome.hold;
}

describe('a hold', () => {
  test('is captured once; a second capture answers what it is', async () => {
    const account = await openAccount(shop.db, 100_000n);
    const { holdId } = await hold(account, { amount: 60_000n });
    expect(await booksOf(shop.db, account.accountId)).toMatchObject({ balance: 100_000n, held: 60_000n, charged: 0n });
    const both = await Promise.all(
      [50_000n, 10_000n].map((capturedNanos) => shop.holds.capture(account.accountId, holdId, { capturedNanos })),
    );
    expect(both.filter((end) => end?.settledNow)).toHaveLength(1);
    const captured = both[0]?.capturedNanos as bigint;
    expect(both[1]?.capturedNanos).toBe(captured);
    expect(await shop.holds.release(account.accountId, holdId)).toMatchObject({
      status: 'captured',
      settledNow: false,
    });
    expect(await booksOf(shop.db, account.accountId)).toMatchObject({
      balance: 100_000n - captured,
      held: 0n,
      charged: captured,
      spend: captured,
      requests: 1n,
    });
  });

  test('never captures more than it reserved', async () => {
    const account = await openAccount(shop.db, 100_000n);
    const { holdId } = await hold(account, { amount: 60_000n });
    await expect(shop.holds.capture(account.accountId, holdId, { capturedNanos: 60_001n })).rejects.toThrow(RangeError);
    expect(await booksOf(shop.db, account.accountId)).toMatchObject({ balance: 100_000n, held: 60_000n });
  });

  test('ends with others in one opening of the wallet as each alone; one that has ended stays as it is', async () => {
    const account = await openAccount(shop.db, 100_000n);
    const holds = [30_000n, 20_000n, 10_000n].map((amount) => hold(account, { amount }));
    const [first = '', ended = '', last = ''] = (await Promise.all(holds)).map(({ holdId }) => holdId);
    await shop.holds.release(account.accountId, ended);
    const captures = [first, ended, 'hold_none', last].map((id) => [id, { capturedNanos: 9_000n }] as const);
    const ends = await shop.db.transaction((tx) => settleHolds(tx, account.accountId, captures));
    expect(ends.map((end) => end && [end.status, end.settledNow, end.balanceNanos])).toEqual([
      ['captured', true, 81_000n],
      ['released', false, 81_000n],
      null,
      ['captured', true, 82_000n],
    ]);
    expect(await booksOf(shop.db, account.accountId)).toMatchObject({
      balance: 82_000n,
      grants: 82_000n,
      ledger: 82_000n,
      held: 0n,
      charged: 18_000n,
      spend: 18_000n,
      requests: 2n,
    });
  });

  test('of another account does not exist', async () => {
    const [mine, theirs] = await Promise.all([openAccount(shop.db, 100_000n), openAccount(shop.db, 100_000n)]);
    const { holdId } = await hold(mine);
    expect(await shop.holds.capture(theirs.accountId, holdId, { capturedNanos: 1n })).toBeNull();
    expect(await booksOf(shop.db, mine.accountId)).toMatchObject({ held: 20_000n });
  });

  test('keeps its part of a grant that expires meanwhile; what it gives back expires', async () => {
    await setClock(shop.db, START_MS);
    const account = await openAccount(shop.db);
    const grant = { kind: 'promo', amountNanos: 100_000n, expiresInMs: HOUR_MS, note: null } as const;
    await shop.db.transaction((tx) => grantCredit(tx, account.accountId, grant));
    const { holdId } = await hold(account, { amount: 60_000n, holdMs: 3 * HOUR_MS });
    await setClock(shop.db, START_MS + HOUR_MS);
    expect(await shop.db.transaction((tx) => expireGrants(tx, account.accountId))).toBe(1);
    expect(await booksOf(shop.db, account.accountId)).toMatchObject({ balance: 60_000n, held: 60_000n });
    expect(await shop.holds.capture(account.accountId, holdId, { capturedNanos: 45_000n })).toMatchObject({
      balanceNanos: 0n,
    });
    expect(await booksOf(shop.db, account.accountId)).toMatchObject({ balance: 15_000n, held: 0n });
    expect(await shop.db.transaction((tx) => expireGrants(tx, account.accountId))).toBe(1);
    expect(await booksOf(shop.db, account.accountId)).toMatchObject({
      balance: 0n,
      grants: 0n,
      ledger: 0n,
      charged: 45_000n,
    });
  });

  test('that nobody settles is given back, and its idempotency key with it', async () => {
    await setClock(shop.db, START_MS);
    const account = await openAccount(shop.db, 100_000n);
    const item = call(account, { idempotency: idempotencyKey('overdue'), holdMs: 60_000 });
    expect(codeOf(await shop.holds.authorize(item))).toBe('held');
    expect(codeOf(await shop.holds.authorize(item))).toBe('IDEMPOTENCY_IN_FLIGHT');
    expect(await shop.holds.expireOverdue(AbortSignal.timeout(5_000))).toBe(false);
    expect(await booksOf(shop.db, account.accountId)).toMatchObject({ held: 20_000n });
    await setClock(shop.db, START_MS + 60_000);
    // Overdue, but still open: the work may yet be charged, so the key is not free.
    expect(codeOf(await shop.holds.authorize(item))).toBe('IDEMPOTENCY_IN_FLIGHT');
    await shop.holds.expireOverdue(AbortSignal.timeout(5_000));
    expect(await booksOf(shop.db, account.accountId)).toMatchObject({ held: 0n, balance: 100_000n });
    expect(codeOf(await shop.holds.authorize(item))).toBe('held');
  });

  test('answers its idempotency key from the capture on', async () => {
    const account = await openAccount(shop.db, 100_000n);
    const captured = call(account, { idempotency: idempotencyKey('captured') });
    const { holdId } = (await hold(account, { idempotency: idempotencyKey('captured') })) as AuthorizedHold;
    await shop.holds.capture(account.accountId, holdId, { capturedNanos: 1n, answer: { text: '{"a":1}' } });
    expect(await shop.holds.authorize(captured)).toMatchObject({ kind: 'replayed', text: '{"a":1}' });
  });

  test('settles with the work of its transaction or not at all', async () => {
    const account = await openAccount(shop.db, 100_000n);
    const { holdId } = await hold(account);
    const failing = shop.db.transaction(async (tx) => {
      await settleHold(tx, account.accountId, holdId, { capturedNanos: 20_000n });
      throw new Error('the work failed');
    });
    await expect(failing).rejects.toThrow('the work failed');
    expect(await booksOf(shop.db, account.accountId)).toMatchObject({ balance: 100_000n, held: 20_000n, charged: 0n });
  });
});

describe('a large effect', () => {
  const charge = {
    units: 3n,
    input: '1',
    sequences: 1,
    bytes: 300_000,
    rows: 1,
  } as const;

  test('is written and charged, and its hold leaves nothing behind', async () => {
    const account = await openAccount(shop.db, 100_000n);
    let told = 0;
    const effect = rowEffect({
      committed: () => {
        told += 1;
      },
    });
    const answer = await chargeInLane(contextOf(shop, account), { ...charge, effect });
    expect(answer).toMatchObject({ costNanos: 60_000n, replayed: false, balanceNanos: 40_000n });
    expect([await rowsOf(shop.db, account.accountId), told]).toEqual([1, 1]);
    expect(await booksOf(shop.db, account.accountId)).toMatchObject({
      balance: 40_000n,
      held: 0n,
      charged: 60_000n,
      requests: 1n,
    });
  });

  test('is refused without a trace when what it stands on is gone by the time of the wallet lock', async () => {
    const account = await openAccount(shop.db, 100_000n);
    const gone = { kind: 'refuse', problem: problem('KEY_NOT_FOUND') } as const;
    for (const refusedAt of [1, 2, 3]) {
      const effect = rowEffect({ read: (reading) => (reading === refusedAt ? gone : { kind: 'go', context: null }) });
      const context = contextOf(shop, account, idempotencyKey(`gone ${refusedAt}`));
      await expect(chargeInLane(context, { ...charge, effect })).rejects.toMatchObject({ code: 'KEY_NOT_FOUND' });
      expect(await rowsOf(shop.db, account.accountId)).toBe(0);
      expect(await booksOf(shop.db, account.accountId)).toMatchObject({ balance: 100_000n, held: 0n, charged: 0n });
    }
  });

  test('that PostgreSQL refuses gives its hold back', async () => {
    const account = await openAccount(shop.db, 100_000n);
    const effect = rowEffect();
    await expect(chargeInLane(contextOf(shop, account), { ...charge, effect, input: 'poison' })).rejects.toMatchObject({
      code: '22P02',
    });
    expect(await booksOf(shop.db, account.accountId)).toMatchObject({ balance: 100_000n, held: 0n });
  });

  test('bills fewer units when part of it turns out to be a repeat', async () => {
    const account = await openAccount(shop.db, 100_000n);
    const effect = rowEffect({ read: () => ({ kind: 'go', context: null, units: 1n }) });
    expect(await chargeInLane(contextOf(shop, account), { ...charge, effect })).toMatchObject({ costNanos: 20_000n });
    expect(await booksOf(shop.db, account.accountId)).toMatchObject({ balance: 80_000n, held: 0n, charged: 20_000n });
  });

  test('keeps the answer under its key when all of it turns out to be a repeat, and charges nothing', async () => {
    const account = await openAccount(shop.db, 100_000n);
    const effect = rowEffect({
      read: (reading) => (reading === 2 ? { kind: 'replay', text: '"earlier"' } : { kind: 'go', context: null }),
    });
    const keyed = contextOf(shop, account, idempotencyKey('repeat'));
    const replay = { replayed: true, costNanos: 0n, data: { text: '"earlier"' } };
    expect(await chargeInLane(keyed, { ...charge, effect })).toMatchObject(replay);
    expect(await chargeInLane(keyed, { ...charge, effect })).toMatchObject(replay);
    expect(await rowsOf(shop.db, account.accountId)).toBe(0);
    expect(await booksOf(shop.db, account.accountId)).toMatchObject({ balance: 100_000n, held: 0n, charged: 0n });
  });

  test('is waited for by a call with the same key, which gets its answer', async () => {
    const account = await openAccount(shop.db, 100_000n);
    const slow = rowEffect();
    const read = slow.read.bind(slow);
    const effect = { ...slow, read: (...of: Parameters<typeof read>) => sleep(150).then(() => read(...of)) };
    const answers = await Promise.all(
      [1, 2].map(() => chargeInLane(contextOf(shop, account, idempotencyKey('twice')), { ...charge, effect })),
    );
    expect(answers.map((answer) => answer.replayed).sort()).toEqual([false, true]);
    expect(new Set(answers.map((answer) => answer.data.text)).size).toBe(1);
    expect(await rowsOf(shop.db, account.accountId)).toBe(1);
  });

  test('does not make the other calls of its account wait', async () => {
    const account = await openAccount(shop.db, 1_000_000n);
    const slow = rowEffect();
    let reads = 0;
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const read = slow.read.bind(slow);
    const effect = {
      ...slow,
      read: async (...of: Parameters<typeof read>) => {
        reads += 1;
        if (reads === 2) {
          begun.resolve();
          await gate.promise;
        }
        return read(...of);
      },
    };
    const large = chargeInLane(contextOf(shop, account), { ...charge, effect });
    await begun.promise;
    expect(codeOf(await shop.lanes.submit(call(account)))).toBe('done');
    gate.resolve();
    await large;
  });
});
