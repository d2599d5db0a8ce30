// Breakers (contract, vendors §3): two processes on one database agree, one call tries a vendor that was down, and accounts are told once.
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import { createLog } from '../../src/core/process/log.ts';
import { Database } from '../../src/db/database.ts';
import { Waker } from '../../src/lib/waker.ts';
import { type Admittance, type CallOutcome, VendorHealth } from '../../src/routing/health.ts';
import { vendorNotices } from '../../src/routing/notices.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { setClock } from '../wallet/clock.ts';

const log = createLog('silent');
const CAPABILITY = 'video.generate';
const START_MS = Date.parse('2026-11-02T10:00:00Z');
const ok: CallOutcome = { breaker: { kind: 'none' }, reason: null };
const failed: CallOutcome = { breaker: { kind: 'counts' }, reason: 'VENDOR_DOWN' };

let database: TestDatabase;
let dbs: [Database, Database];
/** Two processes. Nothing but the test makes them read. */
let here: VendorHealth;
let there: VendorHealth;
let nowMs = START_MS;
let vendor = '';
let vendors = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  dbs = [new Database({ ...database, connections: 3 }), new Database({ ...database, connections: 3 })];
});
afterAll(async () => {
  await Promise.all(dbs.map((db) => db.end()));
  await database.drop();
});
beforeEach(async () => {
  vendors += 1;
  vendor = `vendor-${vendors}`;
  [here, there] = dbs.map((db) => new VendorHealth({ db, log })) as [VendorHealth, VendorHealth];
  await at(nowMs + 3_600_000);
});

/** The clock stands at `ms`, and both processes have read the rows. */
async function at(ms: number): Promise<void> {
  nowMs = ms;
  await setClock(dbs[0], nowMs);
  await both();
}
const later = (ms: number) => at(nowMs + ms);

/** Writes first, then all read what all have written. */
async function both(): Promise<void> {
  for (let i = 0; i < 2; i += 1) {
    await here.sync();
    await there.sync();
  }
}

async function calls(health: VendorHealth, outcomes: readonly CallOutcome[]): Promise<void> {
  for (const outcome of outcomes) {
    const admitted = await health.enter(vendor, CAPABILITY);
    if (admitted.kind === 'go') admitted.reportOutcome(outcome);
  }
}

async function enter(health = here): Promise<Admittance> {
  return health.enter(vendor, CAPABILITY);
}
const many = (count: number, outcome: CallOutcome) => Array.from({ length: count }, () => outcome);
const goes = async (health = here) => (await enter(health)).kind === 'go';

/** Waits for changes under way: they are written beside the caller. */
async function settled(): Promise<void> {
  await here.stop();
  await there.stop();
  await both();
}

async function end(admitted: Admittance, outcome: CallOutcome): Promise<void> {
  if (admitted.kind !== 'go') throw new Error(`the call was not admitted: ${admitted.reason}`);
  admitted.reportOutcome(outcome);
  await settled();
}

describe('opens', () => {
  test('at five failures, which two processes have counted, and both pass it over', async () => {
    await calls(here, many(3, failed));
    await calls(there, many(1, failed));
    await both();
    expect([await goes(here), await goes(there)]).toEqual([true, true]);
    await calls(there, many(1, failed));
    await both();
    expect([here.isUp(vendor, CAPABILITY), there.isUp(vendor, CAPABILITY)]).toEqual([false, false]);
    expect(await enter(there)).toMatchObject({ kind: 'pass', reason: 'VENDOR_DOWN' });
  });

  test('at half of all calls, not below', async () => {
    await calls(here, [...many(6, ok), ...many(5, failed)]);
    await both();
    expect(await goes()).toBe(true);
    await calls(here, many(1, failed));
    await both();
    expect(await goes()).toBe(false);
  });

  test('not for failures that lie more than half a minute apart', async () => {
    await calls(here, many(4, failed));
    await both();
    await later(31_000);
    await calls(here, many(4, failed));
    await both();
    expect(await goes()).toBe(true);
  });

  test('for one capability, not for the others of the vendor', async () => {
    await calls(here, many(5, failed));
    await both();
    expect(here.isUp(vendor, 'video.extend')).toBe(true);
    expect(here.isUp(vendor, CAPABILITY)).toBe(false);
  });

  test('with the reason of the last failure', async () => {
    await calls(here, [...many(4, failed), { breaker: { kind: 'counts' }, reason: 'VENDOR_TIMEOUT' }]);
    await both();
    expect(await enter(there)).toMatchObject({ kind: 'pass', reason: 'VENDOR_TIMEOUT' });
  });

  test('at once, and for five minutes, when the vendor refuses our key', async () => {
    await end(await enter(), { breaker: { kind: 'opens', ms: 300_000 }, reason: 'VENDOR_AUTH_ERROR' });
    expect(await enter(there)).toMatchObject({ kind: 'pass', reason: 'VENDOR_AUTH_ERROR' });
    await later(299_000);
    expect(await goes(there)).toBe(false);
    await later(1_000);
    expect(await goes(there)).toBe(true);
  });
});

describe('is tried', () => {
  async function open(): Promise<void> {
    await calls(here, many(5, failed));
    await both();
  }

  test('by exactly one of many calls of two processes, after 15 seconds', async () => {
    await open();
    await later(14_000);
    expect([await goes(here), await goes(there)]).toEqual([false, false]);
    await later(1_000);
    const entered = await Promise.all([
      ...many(10, ok).map(() => enter(here)),
      ...many(10, ok).map(() => enter(there)),
    ]);
    expect(entered.filter(({ kind }) => kind === 'go')).toHaveLength(1);
  });

  test('and closes when it answers, for both, with nothing counted against it', async () => {
    await open();
    await later(15_000);
    await end(await enter(there), ok);
    expect([await goes(here), await goes(there)]).toEqual([true, true]);
    await calls(here, many(4, failed));
    await both();
    expect(await goes()).toBe(true);
  });

  test('also when it answers with a refusal of the request', async () => {
    await open();
    await later(15_000);
    await end(await enter(), { breaker: { kind: 'none' }, reason: null });
    expect(await goes(there)).toBe(true);
  });

  test('again at once by the next call, when nobody waited for the end of the one that tried it; it counts for nothing', async () => {
    await open();
    await later(15_000);
    await end(await enter(here), { ...ok, isUnknown: true });
    expect((await Promise.all([goes(), goes(), goes(there)])).filter(Boolean)).toHaveLength(1);
  });

  test('not by calls that were left, which do not make up for failures either', async () => {
    await calls(here, [...many(10, { ...ok, isUnknown: true }), ...many(5, failed)]);
    await both();
    expect(await goes()).toBe(false);
  });

  test('after pauses that double, to five minutes', async () => {
    await open();
    for (const pauseMs of [15_000, 30_000, 60_000, 120_000, 240_000, 300_000, 300_000]) {
      await later(pauseMs - 500);
      expect(await goes(), `${pauseMs} ms have not passed`).toBe(false);
      await later(500);
      await end(await enter(), failed);
    }
  });

  test('again when the process that tried it is not heard of', async () => {
    await open();
    await later(15_000);
    expect(await goes(here)).toBe(true);
    await later(59_000);
    expect(await goes(there)).toBe(false);
    await later(1_000);
    expect(await goes(there)).toBe(true);
  });
});

describe('waits', () => {
  test('as long as the vendor asks, for both processes, and is not down', async () => {
    await end(await enter(), { breaker: { kind: 'waits', ms: 20_000 }, reason: 'RATE_LIMIT_VENDOR' });
    expect(await enter(there)).toMatchObject({ kind: 'pass', reason: 'RATE_LIMIT_VENDOR' });
    expect(there.isUp(vendor, CAPABILITY)).toBe(true);
    await later(20_000);
    expect(await Promise.all([goes(here), goes(there), goes(there)])).toEqual([true, true, true]);
  });

  test('at once in the process that was asked', async () => {
    const admitted = await enter();
    if (admitted.kind === 'go')
      admitted.reportOutcome({ breaker: { kind: 'waits', ms: 20_000 }, reason: 'RATE_LIMIT_VENDOR' });
    expect(await goes(here)).toBe(false);
    await settled();
  });
});

test('processes that only wait agree at their next read, which is never more than two seconds away', async () => {
  const [within, wake] = [vi.spyOn(Waker.prototype, 'within'), vi.spyOn(Waker.prototype, 'wake')];
  const [a, b] = dbs.map((db) => new VendorHealth({ db, log })) as [VendorHealth, VendorHealth];
  await Promise.all([a.start(), b.start()]);
  await calls(a, many(5, failed));
  await expect.poll(() => a.isUp(vendor, CAPABILITY)).toBe(false);
  expect(a.revision).toBeGreaterThan(0);
  const upAfterReads: boolean[] = [];
  const sync = b.sync.bind(b);
  vi.spyOn(b, 'sync').mockImplementation(async () => {
    await sync();
    upAfterReads.push(b.isUp(vendor, CAPABILITY));
  });
  await expect.poll(() => upAfterReads[0]).toBe(false);
  const stopping = b.stop();
  // Of all wakers of this thread, the one that the stop has just woken.
  const own = wake.mock.contexts.at(-1);
  await Promise.all([a.stop(), stopping]);
  const pausesMs = within.mock.calls.filter((_, i) => within.mock.contexts[i] === own).map(([ms]) => ms);
  expect(pausesMs.length).toBeGreaterThan(0);
  expect(Math.max(...pausesMs)).toBeLessThanOrEqual(2_000);
  within.mockRestore();
  wake.mockRestore();
});

describe('system.vendor.down', () => {
  let subscribed: string;
  let other: string;
  beforeAll(async () => {
    [subscribed, other] = (await dbs[0].transaction(async (tx) => [
      await createAccount(tx, { name: 'subscribed' }),
      await createAccount(tx, { name: 'other' }),
    ])) as [string, string];
    await subscribe(subscribed, 'system.vendor.down');
    await subscribe(other, 'queue.dlq');
  });

  async function subscribe(accountId: string, type: string): Promise<void> {
    const text = `INSERT INTO core.webhook (account_id, webhook_id, url, events, retry_policy, secret, secret_last4, status, created_at, updated_at)
      VALUES ($1, 'wh_' || $1, 'https://example.org', ARRAY[$2]::text[], 'default', '', '', 'enabled', now(), now())`;
    await dbs[0].query({ name: 'test_subscribe', text }, [accountId, type]);
  }

  async function told(): Promise<{ account_id: string; data: { object: Record<string, unknown> } }[]> {
    const sweep = vendorNotices(dbs[0], () => 'china');
    const { signal } = new AbortController();
    while (await sweep.run(signal));
    const text = `SELECT account_id, data FROM core.event_outbox WHERE type = 'system.vendor.down' AND data LIKE '%"' || $1 || '"%'`;
    const { rows } = await dbs[0].query<{ account_id: string; data: string }>({ name: 'test_told', text }, [vendor]);
    return rows.map((row) => ({ ...row, data: JSON.parse(row.data) }));
  }

  test('goes to every account with a webhook for it, once for a vendor that opens', async () => {
    await calls(here, many(5, failed));
    await calls(there, many(5, failed));
    await both();
    expect(await told()).toEqual([
      {
        account_id: subscribed,
        data: {
          object: {
            vendor,
            region: 'china',
            capabilities: [CAPABILITY],
            reason: 'VENDOR_DOWN',
            since: new Date(nowMs).toISOString(),
            retry_at: new Date(nowMs + 15_000).toISOString(),
          },
        },
      },
    ]);
    expect(await told()).toHaveLength(1);
  });

  test('not again within ten minutes, though it open again; then it is', async () => {
    const openAndClose = async () => {
      await calls(here, many(5, failed));
      await both();
      await later(15_000);
      await end(await enter(), ok);
    };
    await openAndClose();
    await openAndClose();
    expect(await told()).toHaveLength(1);
    await later(600_000);
    await openAndClose();
    expect(await told()).toHaveLength(2);
  });

  test('is not told of a vendor that only asks to wait', async () => {
    await end(await enter(), { breaker: { kind: 'waits', ms: 20_000 }, reason: 'RATE_LIMIT_VENDOR' });
    expect(await told()).toEqual([]);
  });
});
