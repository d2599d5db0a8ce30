// Random histories of a wallet against the model: after every step the books agree with it, and with each other.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockAccount } from '../../src/core/callers/lock.ts';
import { updateKey } from '../../src/core/keys/changes.ts';
import { findKey } from '../../src/core/keys/store.ts';
import { expireGrants, grantCredit } from '../../src/core/wallet/grants.ts';
import type { LaneOutcome } from '../../src/core/wallet/lane/lane-item.ts';
import { balanceOf, budgetOf } from '../../src/core/wallet/ledger/read.ts';
import { setBudget } from '../../src/core/wallet/limits/budget.ts';
import { usd } from '../../src/lib/money.ts';
import { DAY_MS, HOUR_MS } from '../../src/lib/time.ts';
import { examineAccount } from '../../src/upkeep/doctor.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { rounds } from '../support/soak.ts';
import { setClock } from './clock.ts';
import { type Account, addKey, booksOf, call, openAccount, openShop, rowEffect, rowsOf, type Shop } from './harness.ts';
import { type ModelCap, type ModelHold, type Outcome, WalletModel } from './model.ts';

const START_MS = Date.UTC(2026, 2, 30, 20);
const RUNS = 10 * rounds(20);

interface Call {
  readonly key: number;
  readonly mode: 'charge' | 'hold';
  readonly amount: number;
}

type Step =
  | { readonly do: 'grant'; readonly kind: 'promo' | 'paid'; readonly amount: number; readonly hours: number | null }
  | { readonly do: 'ask'; readonly calls: readonly Call[] }
  | { readonly do: 'capture'; readonly which: number; readonly percent: number }
  | { readonly do: 'release'; readonly which: number }
  | { readonly do: 'advance'; readonly minutes: number }
  | { readonly do: 'sweep' }
  | { readonly do: 'budget'; readonly period: 'daily' | 'monthly'; readonly cap: number | null }
  | { readonly do: 'cap'; readonly key: number; readonly period: ModelCap['period']; readonly cap: number | null };

// The account's first key may have a cap; the second one never has.
const key = fc.constantFrom(0, 0, 0, 1);
const amount = fc.integer({ min: 1, max: 400 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('grant' as const),
      kind: fc.constantFrom('promo' as const, 'paid' as const),
      amount: fc.integer({ min: 1, max: 1_000 }),
      hours: fc.option(fc.integer({ min: 1, max: 48 })),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      calls: fc.array(fc.record({ key, mode: fc.constantFrom('charge' as const, 'hold' as const), amount }), {
        minLength: 1,
        maxLength: 5,
      }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('capture' as const),
      which: fc.nat(20),
      percent: fc.integer({ min: 0, max: 100 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), which: fc.nat(20) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('advance' as const), minutes: fc.constantFrom(5, 15, 60, 300, 1_440) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sweep' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('budget' as const),
      period: fc.constantFrom('daily' as const, 'monthly' as const),
      cap: fc.option(fc.integer({ min: 0, max: 800 })),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('cap' as const),
      key: fc.constant(0),
      period: fc.constantFrom('total' as const, 'daily' as const, 'monthly' as const),
      cap: fc.option(fc.integer({ min: 0, max: 800 })),
    }),
  },
);

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

test('every history keeps wallet, grants, ledger, holds and usage in agreement with the model', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 18 }), async (steps) => {
      await setClock(shop.db, START_MS);
      const account = await openAccount(shop.db);
      const run = new Run([account, await addKey(shop.db, account.accountId)]);
      for (const each of steps) {
        await run.take(each);
        await run.check();
      }
    }),
    { numRuns: RUNS, interruptAfterTimeLimit: 100_000 },
  );
});

class Run {
  readonly #keys: readonly [Account, Account];
  readonly #model = new WalletModel(START_MS);
  readonly #effect = rowEffect();
  #charges = 0;

  constructor(keys: readonly [Account, Account]) {
    this.#keys = keys;
  }

  get #account(): Account {
    return this.#keys[0];
  }

  async take(each: Step): Promise<void> {
    const { accountId } = this.#account;
    switch (each.do) {
      case 'grant': {
        const expiresInMs = each.hours === null ? null : each.hours * HOUR_MS;
        const grant = { kind: each.kind, amountNanos: BigInt(each.amount), expiresInMs, note: null };
        await shop.db.transaction((tx) => grantCredit(tx, accountId, grant));
        this.#model.grant(each.kind, grant.amountNanos, expiresInMs);
        return;
      }
      case 'ask':
        return this.#ask(each.calls);
      case 'capture':
      case 'release':
        return this.#settle(each);
      case 'advance':
        this.#model.nowMs += each.minutes * 60_000;
        return setClock(shop.db, this.#model.nowMs);
      case 'sweep':
        await shop.holds.expireOverdue(AbortSignal.timeout(10_000));
        this.#model.expireHolds();
        await shop.db.transaction((tx) => expireGrants(tx, accountId));
        return this.#model.expireGrants();
      case 'budget': {
        const cap = each.cap === null ? null : BigInt(each.cap);
        await shop.db.transaction((tx) =>
          setBudget(tx, accountId, { period: each.period, capNanos: cap, alertNanos: null }),
        );
        this.#model.budget = { period: each.period, cap };
        return;
      }
      case 'cap':
        return this.#setCap(each);
    }
  }

  async #ask(calls: (Step & { do: 'ask' })['calls']): Promise<void> {
    const expected = calls.map(({ key: by, mode, amount: nanos }) => this.#model.ask(by, mode, BigInt(nanos)));
    const items = calls.map(({ key: by, mode, amount: nanos }) =>
      call(this.#keys[by] as Account, { mode, amount: BigInt(nanos), effect: this.#effect }),
    );
    const settled = await Promise.all(items.map((item) => shop.lanes.submit(item)));
    expect(settled.map(outcomeOf)).toEqual(expected);
    this.#charges += expected.filter((outcome) => outcome === 'done').length;
    const unnamed = this.#model.holds.filter((hold) => hold.id === '');
    const ids = settled.flatMap((outcome) => (outcome.kind === 'held' ? [outcome.hold.holdId] : []));
    unnamed.forEach((hold, i) => {
      Object.assign(hold, { id: ids[i] });
    });
  }

  async #settle(each: Step & { do: 'capture' | 'release' }): Promise<void> {
    const { holds } = this.#model;
    const hold = holds[each.which % Math.max(1, holds.length)] as ModelHold | undefined;
    if (hold === undefined) return;
    const wasActive = hold.status === 'active';
    const nanos = each.do === 'capture' ? (hold.amount * BigInt(each.percent)) / 100n : 0n;
    if (each.do === 'capture') this.#model.capture(hold, nanos);
    else this.#model.release(hold, 'released');
    const { accountId } = this.#account;
    const end =
      each.do === 'capture'
        ? await shop.holds.capture(accountId, hold.id, { capturedNanos: nanos })
        : await shop.holds.release(accountId, hold.id);
    const { status, captured } = hold;
    expect(end).toMatchObject({
      status,
      capturedNanos: captured,
      settledNow: wasActive,
      balanceNanos: this.#model.spendable,
    });
  }

  async #setCap({ period, cap }: Step & { do: 'cap' }): Promise<void> {
    const { accountId, keyId } = this.#account;
    const nanos = cap === null ? null : BigInt(cap);
    const change = nanos === null ? { nanos } : { nanos, period };
    await shop.db.transaction(async (tx) => {
      const nowMs = (await lockAccount(tx, accountId)) as number;
      await updateKey(tx, accountId, keyId, { cap: change }, nowMs);
    });
    if (nanos === null) this.#model.caps.delete(0);
    else this.#model.caps.set(0, { period, cap: nanos });
  }

  /** What the key's record shows is what the model counts. */
  async #checkCap(): Promise<void> {
    const { accountId, keyId } = this.#account;
    const cap = (await findKey(shop.db, accountId, keyId))?.cap ?? null;
    const expected = this.#model.caps.get(0);
    if (expected === undefined) expect(cap).toBeNull();
    else expect(cap).toMatchObject({ ...expected, ...this.#model.inWindow(expected.period, 0) });
    const faults = await examineAccount({ db: shop.db, secrets: null, modules: [] }, accountId);
    // The clock jumps, and only some steps sweep: a hold whose time is up may wait for that.
    expect(faults.filter(({ check }) => check !== 'hold')).toEqual([]);
  }

  async check(): Promise<void> {
    await this.#checkCap();
    const { accountId } = this.#account;
    const model = this.#model;
    const books = await booksOf(shop.db, accountId);
    expect(books).toMatchObject({
      balance: model.balance,
      grants: model.balance,
      ledger: model.balance,
      held: model.held,
      reserved: model.held,
      holds: model.held,
      spend: model.spent,
      charged: model.spent,
    });
    expect(books.last_balance ?? 0n).toBe(model.balance);
    expect(await rowsOf(shop.db, accountId)).toBe(this.#charges);
    expect((await balanceOf(shop.db, accountId)).balance_usd).toBe(usd(model.spendable));
    const window = model.inWindow(model.budget?.period ?? 'monthly');
    expect(await budgetOf(shop.db, accountId)).toMatchObject({
      used_usd: usd(window.used),
      held_usd: usd(window.held),
    });
  }
}

function outcomeOf(outcome: LaneOutcome): Outcome | string {
  return outcome.kind === 'refused' ? (outcome.problem.detail ?? outcome.problem.code) : outcome.kind;
}

test('the model itself: a day of use does not count in the next', () => {
  const model = new WalletModel(START_MS);
  model.grant('paid', 100n, null);
  model.budget = { period: 'daily', cap: 10n };
  expect([model.ask(0, 'charge', 10n), model.ask(0, 'charge', 1n)]).toEqual(['done', 'budget_daily']);
  model.nowMs += DAY_MS;
  expect(model.ask(0, 'charge', 1n)).toBe('done');
});
