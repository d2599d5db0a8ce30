import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Sweep } from '../../src/core/background/sweeper/sweep.ts';
import { Sweeper } from '../../src/core/background/sweeper/sweeper.ts';
import { sendEvents } from '../../src/core/events/outbox.ts';
import { eventsOf } from '../../src/core/events/read.ts';
import { ProcessRegistry } from '../../src/core/process/processes.ts';
import { UsageMeter } from '../../src/core/usage/meter.ts';
import { grantCredit, warnExpiring } from '../../src/core/wallet/grants.ts';
import { statement } from '../../src/db/statement.ts';
import type { Services } from '../../src/kit/services.ts';
import { DAY_MS, HOUR_MS } from '../../src/lib/time.ts';
import { coreSweeps } from '../../src/upkeep/sweeps.ts';
import { sequenceAccount } from '../../src/webhooks/sequencer.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sandboxOnly } from '../support/vendors.ts';
import { setClock } from './clock.ts';
import { booksOf, call, idempotencyKey, openAccount, openShop, rowEffect, type Shop, silent } from './harness.ts';

const START_MS = Date.UTC(2026, 5, 1, 12);
const countAnswers = statement(
  'test_count_answers',
  'SELECT count(*) AS count FROM core.idempotency WHERE account_id = $1',
);
const endLeases = statement(
  'test_end_leases',
  `UPDATE core.sweep_lease SET holder = 'dead', lease_until = clock_timestamp() + interval '400 milliseconds'`,
);

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

const always = new AbortController().signal;
const none = { type: null, fromMs: null, toMs: null };

async function send(accountId: string, types: readonly string[]): Promise<void> {
  const events = types.map((type) => ({ accountId, type, data: { object: { type } }, requestId: null }));
  await shop.db.transaction(async (tx) => sendEvents(tx, events, START_MS));
}

/** Types of the account's events in the order of their numbers. */
async function told(accountId: string): Promise<string[]> {
  await sequenceAccount(shop.db, accountId);
  const rows = await eventsOf(shop.db, accountId, none, null, 1_000);
  const inOrder = rows.toReversed();
  // Those beyond 30 days are not shown any more.
  const first = inOrder[0]?.sequence ?? 1n;
  expect(inOrder.map((row) => row.sequence)).toEqual(inOrder.map((_, i) => first + BigInt(i)));
  return inOrder.map((row) => row.type).filter((type) => type !== 'account.created');
}

describe('events', () => {
  test('are numbered without gaps in the order of their transaction, also by two processes at once', async () => {
    await setClock(shop.db, START_MS);
    const { accountId } = await openAccount(shop.db);
    const types = Array.from({ length: 450 }, (_, i) => `t${i}`);
    for (let at = 0; at < types.length; at += 50) await send(accountId, types.slice(at, at + 50));
    await Promise.all([1, 2, 3].map(() => sequenceAccount(shop.db, accountId)));
    expect((await told(accountId)).sort()).toEqual([...types].sort());
    const { accountId: other } = await openAccount(shop.db);
    await send(other, ['a', 'b', 'c', 'd', 'e', 'f']);
    expect(await told(other)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test('of a transaction that rolled back are never told', async () => {
    await setClock(shop.db, START_MS);
    const { accountId } = await openAccount(shop.db);
    const failing = shop.db.transaction(async (tx) => {
      sendEvents(tx, [{ accountId, type: 'x', data: {}, requestId: null }], START_MS);
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await told(accountId)).toEqual([]);
  });
});

describe('background tasks', () => {
  const core = () =>
    ({
      db: shop.db,
      holds: shop.holds,
      usage: new UsageMeter(shop.db),
      processes: new ProcessRegistry(shop.db, 'p1', ['web']),
      vendors: sandboxOnly(),
      log: silent,
    }) as unknown as Services;
  const run = (name: string) => (coreSweeps(core(), 3_650).find((sweep) => sweep.name === name) as Sweep).run(always);

  test('expire credit, and warn 7 days and 1 day ahead, each once', async () => {
    await setClock(shop.db, START_MS);
    const { accountId } = await openAccount(shop.db);
    const grant = { kind: 'promo', amountNanos: 5_000_000_000n, expiresInMs: 30 * DAY_MS, note: null } as const;
    await shop.db.transaction((tx) => grantCredit(tx, accountId, grant));
    const seen: string[][] = [];
    for (const aheadMs of [8 * DAY_MS, 7 * DAY_MS, 6 * DAY_MS, DAY_MS, HOUR_MS, 0, -DAY_MS]) {
      await setClock(shop.db, START_MS + 30 * DAY_MS - aheadMs);
      for (const name of ['wallet.grant_warning', 'wallet.grant_expiry', 'wallet.grant_warning'])
        expect(await run(name)).toBe(false);
      seen.push(await told(accountId));
    }
    const soon = 'wallet.expiring_soon';
    expect(seen.map((types) => types.length)).toEqual([0, 1, 1, 2, 2, 4, 4]);
    expect(seen.at(-1)).toEqual([soon, soon, 'wallet.expired', 'wallet.low_balance']);
    expect(await booksOf(shop.db, accountId)).toMatchObject({ balance: 0n, grants: 0n, ledger: 0n });
  });

  test('a grant that lives for a day only is not announced for moments before it began', async () => {
    await setClock(shop.db, START_MS);
    const { accountId } = await openAccount(shop.db);
    await shop.db.transaction((tx) =>
      grantCredit(tx, accountId, { kind: 'promo', amountNanos: 5_000_000_000n, expiresInMs: HOUR_MS, note: null }),
    );
    expect(await run('wallet.grant_warning')).toBe(false);
    expect(await told(accountId)).toEqual([]);
  });

  test.each([
    [HOUR_MS, 0],
    [DAY_MS - 1, 0],
    [DAY_MS, 1],
    [7 * DAY_MS - 1, 0],
    [7 * DAY_MS, 1],
    [7 * DAY_MS + 1, 0],
  ])(
    'whoever looks at a new grant of %i ms warns %i times: never for a moment before the grant',
    async (expiresInMs, times) => {
      await setClock(shop.db, START_MS);
      const { accountId } = await openAccount(shop.db);
      const grant = { kind: 'promo', amountNanos: 5_000_000_000n, expiresInMs, note: null } as const;
      await shop.db.transaction((tx) => grantCredit(tx, accountId, grant));
      await setClock(shop.db, START_MS);
      expect(await shop.db.transaction((tx) => warnExpiring(tx, accountId))).toBe(times);
    },
  );

  test('forget idempotency keys and events when their time is over, not before', async () => {
    await setClock(shop.db, START_MS);
    const account = await openAccount(shop.db, 5_000_000_000n);
    await shop.lanes.submit(call(account, { effect: rowEffect(), idempotency: idempotencyKey('old') }));
    await sequenceAccount(shop.db, account.accountId);
    const kept = async () => [
      Number((await shop.db.query<{ count: bigint }>(countAnswers, [account.accountId])).rows[0]?.count),
      (await eventsOf(shop.db, account.accountId, none, null, 10)).length,
    ];
    for (const [afterMs, expected] of [
      [DAY_MS - 1, [1, 1]],
      [DAY_MS, [0, 1]],
      [30 * DAY_MS - 1, [0, 1]],
      [30 * DAY_MS, [0, 0]],
    ] as const) {
      await setClock(shop.db, START_MS + afterMs);
      await run('idempotency.retention');
      await run('events.retention');
      expect(await kept()).toEqual(expected);
    }
  });
});

describe('the sweeper', () => {
  const sweeper = (holder: string, sweeps: readonly Sweep[]) =>
    new Sweeper({
      core: { db: shop.db, log: silent, processes: new ProcessRegistry(shop.db, holder, ['web']) },
      sweeps,
    });

  test('runs a task on one process at a time and hands it over at the stop', async () => {
    let running = 0;
    let most = 0;
    const ran: string[] = [];
    const task = (holder: string): Sweep => ({
      name: 'exclusive',
      intervalMs: 10,
      run: async () => {
        running += 1;
        most = Math.max(most, running);
        ran.push(holder);
        await sleep(5);
        running -= 1;
        return false;
      },
    });
    const [first, second] = [sweeper('h1', [task('h1')]), sweeper('h2', [task('h2')])];
    first.start();
    await expect.poll(() => ran.length).toBeGreaterThan(3);
    const alone = ran.length;
    second.start();
    await expect.poll(() => ran.length).toBeGreaterThan(alone + 8);
    expect(new Set(ran)).toEqual(new Set(['h1']));
    await first.stop();
    const before = ran.length;
    await expect.poll(() => ran.slice(before)).toContain('h2');
    await second.stop();
    expect(most).toBe(1);
    const after = ran.length;
    const third = sweeper('h6', [task('h6')]);
    third.start();
    await expect.poll(() => ran.length).toBeGreaterThan(after + 3);
    await third.stop();
    expect(new Set(ran.slice(after))).toEqual(new Set(['h6']));
  });

  test('takes over from a holder that died, once its lease is over', async () => {
    let runs = 0;
    const task: Sweep = { name: 'orphan', intervalMs: 10, run: async () => ++runs < 0 };
    const first = sweeper('h3', [task]);
    first.start();
    await expect.poll(() => runs).toBeGreaterThan(0);
    await first.stop();
    await shop.db.query(endLeases, []);
    const second = sweeper('h4', [task]);
    const before = runs;
    second.start();
    // sleeps: a run that came too early would come by now.
    await sleep(200);
    expect(runs).toBe(before);
    await expect.poll(() => runs).toBeGreaterThan(before);
    await second.stop();
  });

  test('runs again after a failure and counts it', async () => {
    let runs = 0;
    const task: Sweep = {
      name: 'failing',
      intervalMs: 10,
      perProcess: true,
      run: async () => {
        runs += 1;
        if (runs === 1) throw new Error('once');
        return false;
      },
    };
    const one = sweeper('h5', [task]);
    one.start();
    await expect.poll(() => runs).toBeGreaterThan(1);
    await one.stop();
    const failures = one.metrics().find((metric) => metric.name === 'qm_sweep_failures_total');
    expect(failures).toMatchObject({ labels: { sweep: 'failing' }, value: 1 });
  });
});

test('what the meter counted and could not write is written the next time, and nothing twice', async () => {
  const { accountId } = await openAccount(shop.db);
  let down = true;
  const db = {
    query: (...of: Parameters<Shop['db']['query']>) =>
      down ? Promise.reject(new Error('down')) : shop.db.query(...of),
  };
  const meter = new UsageMeter(db as unknown as Shop['db']);
  meter.count(accountId, 'key_1', 'queue.ack', false);
  await expect(meter.flush()).rejects.toThrow('down');
  meter.count(accountId, 'key_1', 'queue.ack', true);
  down = false;
  await Promise.all([meter.flush(), meter.flushAccount(accountId), meter.flush()]);
  expect((await booksOf(shop.db, accountId)).requests).toBe(2n);
});

test('readers of one account share a flush that has not begun, and what was counted before it did', async () => {
  const { accountId } = await openAccount(shop.db);
  const meter = new UsageMeter(shop.db);
  const first = meter.flushAccount(accountId);
  meter.count(accountId, 'key_1', 'queue.ack', false);
  expect(meter.flushAccount(accountId)).toBe(first);
  await first;
  expect((await booksOf(shop.db, accountId)).requests).toBe(1n);
  expect(meter.flushAccount(accountId)).not.toBe(first);
});
