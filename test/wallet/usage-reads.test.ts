// What account.usage and account.usage.timeseries show, on a clock that stands still.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addUsage } from '../../src/core/usage/add-usage.ts';
import { UsageMeter } from '../../src/core/usage/meter.ts';
import { chargeInLane } from '../../src/core/wallet/charge/charge.ts';
import type { CallContext } from '../../src/kit/services.ts';
import { toJson } from '../../src/lib/json-text.ts';
import { HOUR_MS } from '../../src/lib/time.ts';
import { usage } from '../../src/modules/account/capabilities/usage.ts';
import { usageTimeseries } from '../../src/modules/account/capabilities/usage-timeseries.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { setClock } from './clock.ts';
import { type Account, contextOf, openAccount, openShop, rowEffect, type Shop } from './harness.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 8, 30);
const state = null;
let database: TestDatabase;
let shop: Shop;
let meter: UsageMeter;

beforeAll(async () => {
  database = await createTestDatabase();
  shop = await openShop(database.connection);
  meter = new UsageMeter(shop.db);
});
beforeEach(() => setClock(shop.db, NOW_MS));
afterAll(async () => {
  await shop.end();
  await database.drop();
});

const contextFor = (account: Account, capability: string): CallContext => {
  const ctx = contextOf(shop, account);
  return { ...ctx, capability, core: { ...ctx.core, usage: meter } };
};
const publish = (account: Account) =>
  chargeInLane(contextFor(account, 'queue.publish'), {
    units: 2n,
    effect: rowEffect(),
    input: '1',
    sequences: 1,
    bytes: 1,
    rows: 1,
  });
const dataOf = (answer: { data: unknown }) => JSON.parse(toJson(answer.data));

describe('account.usage', () => {
  test('adds up charges and calls at once, by capability and key', async () => {
    const account = await openAccount(shop.db, 1_000_000_000n);
    await Promise.all([publish(account), publish(account)]);
    meter.count(account.accountId, account.keyId, 'queue.ack', false);
    meter.count(account.accountId, account.keyId, 'queue.ack', true);
    meter.count(account.accountId, 'key_other', 'queue.publish', true);
    const read = async (input: Parameters<typeof usage.run>[0]['input']) =>
      dataOf(await usage.run({ ctx: contextFor(account, 'account.usage'), input, state }));
    expect(await read({})).toEqual({
      period_start: '2026-11-01T00:00:00.000Z',
      period_end: '2026-12-01T00:00:00.000Z',
      spend_usd: 0.00008,
      request_count: 5,
      error_count: 2,
      by_capability: [
        { capability: 'queue.publish', count: 3, error_count: 1, units: 4, spend_usd: 0.00008 },
        { capability: 'queue.ack', count: 2, error_count: 1, units: 0, spend_usd: 0 },
      ],
      by_key: [
        { key_id: account.keyId, count: 4, error_count: 1, units: 4, spend_usd: 0.00008 },
        { key_id: 'key_other', count: 1, error_count: 1, units: 0, spend_usd: 0 },
      ],
    });
    expect(await read({ capability: 'queue.ack' })).toMatchObject({
      spend_usd: 0,
      request_count: 2,
      by_key: [{ count: 2 }],
    });
    expect(await read({ key_id: 'key_other' })).toMatchObject({ request_count: 1, error_count: 1 });
    expect(await read({ from: '2026-11-21T09:00:00Z', to: '2026-11-22T00:00:00Z' })).toMatchObject({
      request_count: 0,
      by_capability: [],
      by_key: [],
    });
    await expect(read({ from: 'yesterday' })).rejects.toMatchObject({ code: 'VALIDATION_FAILED', param: 'from' });
  });

  test('leaves out free calls of the console, but nothing that cost money', async () => {
    const account = await openAccount(shop.db, 1_000_000_000n);
    const spent = { requests: 1n, errors: 0n, units: 2n, spendNanos: 40_000n };
    const publishing = { accountId: account.accountId, atMs: NOW_MS, capability: 'queue.publish', keyId: 'pers_1' };
    await addUsage(shop.db, [{ ...publishing, ...spent }]);
    for (const id of [account.keyId, 'pers_1', 'sess_1'])
      meter.count(account.accountId, id, 'queue.ack', id === 'pers_1');
    const ctx = contextFor(account, 'account.usage');
    const sum = await usage.run({ ctx, input: { console_calls: 'billed' }, state });
    const billed = { spend_usd: 0.00004, request_count: 2, error_count: 0 };
    expect(dataOf(sum)).toMatchObject({
      ...billed,
      by_key: [{ key_id: 'pers_1', count: 1 }, { key_id: account.keyId }],
    });
    const series = async (console_calls?: 'all' | 'billed') =>
      dataOf(await usageTimeseries.run({ ctx, input: { granularity: 'hour', console_calls }, state })).items.at(-1);
    expect(await series('billed')).toMatchObject(billed);
    expect(await series()).toMatchObject({ ...billed, request_count: 4, error_count: 1 });
  });

  test('over time has a point for every step and group, zero where nothing happened, the last one partial', async () => {
    const account = await openAccount(shop.db, 1_000_000_000n);
    await setClock(shop.db, NOW_MS - 2 * HOUR_MS);
    await publish(account);
    await setClock(shop.db, NOW_MS);
    await publish(account);
    meter.count(account.accountId, account.keyId, 'queue.ack', true);
    const read = async (input: Parameters<typeof usageTimeseries.run>[0]['input']) =>
      dataOf(await usageTimeseries.run({ ctx: contextFor(account, 'account.usage.timeseries'), input, state }));
    const hours = await read({ granularity: 'hour', from: '2026-11-21T06:00:00Z' });
    const spent = { spend_usd: 0.00004, request_count: 1, error_count: 0, group: null };
    expect(hours.items).toEqual([
      { at: '2026-11-21T06:00:00.000Z', ...spent },
      { at: '2026-11-21T07:00:00.000Z', spend_usd: 0, request_count: 0, error_count: 0, group: null },
      { at: '2026-11-21T08:00:00.000Z', ...spent, request_count: 2, error_count: 1, partial: true },
    ]);
    const days = await read({ group_by: 'capability' });
    expect(days.items).toHaveLength(60);
    expect(days.items.slice(-2)).toMatchObject([
      { group: 'queue.publish', spend_usd: 0.00008, request_count: 2, partial: true },
      { group: 'queue.ack', spend_usd: 0, error_count: 1, partial: true },
    ]);
    expect((await read({ granularity: 'month', to: '2026-11-01T00:00:00Z' })).items.at(-1)).toEqual({
      at: '2026-10-01T00:00:00.000Z',
      spend_usd: 0,
      request_count: 0,
      error_count: 0,
      group: null,
    });
  });
});
