// What the account module shows of wallet, budget, ledger and events, on a clock that stands still.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { UsageMeter } from '../../src/core/usage/meter.ts';
import { chargeInLane } from '../../src/core/wallet/charge/charge.ts';
import { grantCredit, type NewGrant, signUpNote } from '../../src/core/wallet/grants.ts';
import type { CallContext } from '../../src/kit/services.ts';
import { toJson } from '../../src/lib/json-text.ts';
import { DAY_MS, HOUR_MS } from '../../src/lib/time.ts';
import { balance } from '../../src/modules/account/capabilities/balance.ts';
import { budgetGet } from '../../src/modules/account/capabilities/budget-get.ts';
import { budgetSet } from '../../src/modules/account/capabilities/budget-set.ts';
import { eventsList } from '../../src/modules/account/capabilities/events-list.ts';
import { ledgerList } from '../../src/modules/account/capabilities/ledger-list.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { setClock } from './clock.ts';
import { type Account, call, contextOf, openAccount, openShop, rowEffect, type Shop } from './harness.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 8, 30);
const state = null;
let database: TestDatabase;
let shop: Shop;
let meter: UsageMeter;
const secrets = new Secrets('a secret of at least thirty-two characters');

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
  return { ...ctx, capability, core: { ...ctx.core, secrets, usage: meter, region: 'western' } };
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
const give = (
  account: Account,
  kind: 'promo' | 'paid',
  usd: bigint,
  expiresInMs: number | null,
  note: string | null = null,
) =>
  shop.db.transaction((tx) =>
    grantCredit(tx, account.accountId, { kind, amountNanos: usd * 1_000_000_000n, expiresInMs, note }),
  );

describe('account.balance', () => {
  test('is exact at the moment: held and expired credit does not count, swept or not', async () => {
    const account = await openAccount(shop.db);
    await give(account, 'promo', 2n, 90 * DAY_MS, signUpNote);
    await give(account, 'promo', 1n, HOUR_MS);
    await give(account, 'paid', 10n, null);
    await shop.holds.authorize(call(account, { amount: 500_000_000n }));
    const read = async () =>
      dataOf(await balance.run({ ctx: contextFor(account, 'account.balance'), input: {}, state }));
    const expiring = [
      { amount_usd: 0.5, expires_at: '2026-11-21T09:30:00.000Z' },
      { amount_usd: 2, expires_at: '2027-02-19T08:30:00.000Z' },
    ];
    const trial = { granted_usd: 2, remaining_usd: 2, withheld_reason: null };
    expect(await read()).toEqual({
      currency: 'USD',
      balance_usd: 12.5,
      held_usd: 0.5,
      test_usd: 0,
      debt_usd: 0,
      promo_usd: 2.5,
      paid_usd: 10,
      expiring,
      trial: { active: true, ...trial, expires_at: '2027-02-19T08:30:00.000Z' },
      low_balance: false,
      frozen_reason: null,
      as_of: '2026-11-21T08:30:00.000Z',
    });
    await setClock(shop.db, NOW_MS + HOUR_MS);
    expect(await read()).toMatchObject({ balance_usd: 12, held_usd: 0.5, promo_usd: 2, expiring: [expiring[1]] });
    await setClock(shop.db, NOW_MS + 90 * DAY_MS);
    expect(await read()).toMatchObject({
      balance_usd: 10,
      expiring: [],
      trial: { active: false, granted_usd: 2, remaining_usd: 0 },
    });
  });

  test('of an account without credit is zero, without a trial', async () => {
    const account = await openAccount(shop.db);
    const data = dataOf(await balance.run({ ctx: contextFor(account, 'account.balance'), input: {}, state }));
    expect(data).toMatchObject({
      balance_usd: 0,
      low_balance: true,
      trial: { active: false, granted_usd: 0, expires_at: null, withheld_reason: 'email_sign_up' },
    });
  });
});

describe('account.budget', () => {
  const set = (account: Account, input: Parameters<typeof budgetSet.run>[0]['input']) =>
    budgetSet.run({ ctx: contextFor(account, 'account.budget.set'), input, state });
  const get = async (account: Account) =>
    dataOf(await budgetGet.run({ ctx: contextFor(account, 'account.budget.get'), input: {}, state }));

  test('counts what the window has used already, blocks above the cap, and is replaced as a whole', async () => {
    const account = await openAccount(shop.db, 1_000_000_000n);
    expect(await get(account)).toMatchObject({
      period: null,
      hard_cap_usd: null,
      remaining_usd: null,
      exceeded: false,
    });
    await publish(account);
    const answer = dataOf(await set(account, { period: 'daily', hard_cap_usd: 0.00006, alert_threshold_usd: 0.00004 }));
    expect(answer).toEqual({
      period: 'daily',
      hard_cap_usd: 0.00006,
      alert_threshold_usd: 0.00004,
      used_usd: 0.00004,
      held_usd: 0,
      remaining_usd: 0.00002,
      window_start: '2026-11-21T00:00:00.000Z',
      window_end: '2026-11-22T00:00:00.000Z',
      exceeded: false,
    });
    expect(await get(account)).toEqual(answer);
    await expect(publish(account)).rejects.toMatchObject({
      code: 'INSUFFICIENT_CREDIT',
      detail: 'budget_daily',
      retryAfterMs: undefined,
      shortfall: {
        neededNanos: 40_000n,
        leftNanos: 20_000n,
        capNanos: 60_000n,
        windowLeftMs: 15.5 * HOUR_MS,
        liftedBy: 'account.budget.set',
      },
    });
    await set(account, { period: 'monthly', hard_cap_usd: 0 });
    await expect(publish(account)).rejects.toMatchObject({ detail: 'budget_monthly' });
    expect(await get(account)).toMatchObject({
      period: 'monthly',
      alert_threshold_usd: null,
      exceeded: true,
      remaining_usd: 0,
    });
    await set(account, { period: 'monthly' });
    await publish(account);
  });

  test('refuses amounts finer than a nano-USD and names the field', async () => {
    const account = await openAccount(shop.db);
    const refused = { code: 'VALIDATION_FAILED', param: 'alert_threshold_usd' };
    await expect(set(account, { period: 'daily', alert_threshold_usd: 1e-10 })).rejects.toMatchObject(refused);
    await expect(set(account, { period: 'daily', alert_threshold_usd: -1 })).rejects.toMatchObject(refused);
  });
});

describe('lists', () => {
  test('the ledger comes page by page, filtered, and adds up to the balance', async () => {
    const account = await openAccount(shop.db, 1_000_000n);
    for (let i = 0; i < 5; i += 1) await publish(account);
    const ctx = contextFor(account, 'account.ledger.list');
    const all = dataOf(await ledgerList.run({ ctx, input: {}, state }));
    expect(all).toMatchObject({ has_more: false, next_cursor: null });
    expect(all.items[0]).toMatchObject({
      kind: 'charge',
      capability: 'queue.publish',
      units: 2,
      amount_usd: -0.00004,
      balance_after_usd: 0.0008,
    });
    const paged = [];
    let cursor: string | undefined;
    do {
      const page = dataOf(await ledgerList.run({ ctx, input: { limit: 2, cursor }, state }));
      paged.push(...page.items);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(paged).toEqual(all.items);
    const period = { from: '2026-11-21T00:00:00Z', to: '2100-01-01T00:00:00Z' };
    const input = { ...period, capability: 'queue.publish', key_id: account.keyId };
    const charges = dataOf(await ledgerList.run({ ctx, input, state }));
    expect(charges.items).toHaveLength(5);
    expect(dataOf(await ledgerList.run({ ctx, input: { to: period.from }, state })).items).toEqual([]);
    const first = dataOf(await ledgerList.run({ ctx, input: { limit: 1 }, state }));
    const filtered = ledgerList.run({ ctx, input: { cursor: first.next_cursor, capability: 'queue.publish' }, state });
    await expect(filtered).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
  });

  test('the ledger tells what credit came from', async () => {
    const account = await openAccount(shop.db);
    await give(account, 'promo', 1n, null, signUpNote);
    await give(account, 'promo', 1n, null, 'a present');
    const paid: NewGrant = {
      kind: 'paid',
      amountNanos: 1n,
      expiresInMs: null,
      note: null,
      source: { kind: 'topup', id: 'top_1' },
    };
    await shop.db.transaction((tx) => grantCredit(tx, account.accountId, paid));
    const { data } = await ledgerList.run({ ctx: contextFor(account, 'account.ledger.list'), input: {}, state });
    expect(dataOf({ data }).items.map(({ source }: { source: string }) => source)).toEqual([
      'topup',
      'operator',
      'signup',
    ]);
  });

  test('events are there right after the call that caused them', async () => {
    const account = await openAccount(shop.db, 1_000_000n);
    await publish(account);
    const ctx = contextFor(account, 'account.events.list');
    const page = dataOf(await eventsList.run({ ctx, input: { type: 'wallet.low_balance' }, state }));
    expect(page).toMatchObject({ has_more: false, next_cursor: null });
    const object = { currency: 'USD', balance_usd: 0.00096, threshold_usd: 1, as_of: '2026-11-21T08:30:00.000Z' };
    expect(page.items).toEqual([
      {
        event_id: expect.stringMatching(/^evt_[0-9A-Za-z]{22}$/),
        type: 'wallet.low_balance',
        timestamp: '2026-11-21T08:30:00.000Z',
        api_version: '2026-11-01',
        account_id: account.accountId,
        region: 'western',
        sequence: 2,
        test: false,
        request_id: expect.stringMatching(/^req_/),
        data: { object, reason: 'low_balance' },
      },
    ]);
    await expect(eventsList.run({ ctx, input: { type: 'no.such' }, state })).rejects.toMatchObject({
      code: 'UNKNOWN_EVENT_TYPE',
    });
    const all = dataOf(await eventsList.run({ ctx, input: { limit: 1 }, state }));
    const rest = dataOf(await eventsList.run({ ctx, input: { limit: 5, cursor: all.next_cursor }, state }));
    expect([...all.items, ...rest.items].map((event: { sequence: number }) => event.sequence)).toEqual([2, 1]);
  });
});
