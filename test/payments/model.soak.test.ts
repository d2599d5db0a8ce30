// Random histories of one wallet: credit, charges, holds, refunds, disputes, expiry. After every step what is there less what is owed is what
// came in less what went out, to the nano; the doctor finds nothing; a dispute that is won gives back exactly what it took.
// Two histories in `npm test`, ten in `npm run test:soak` (20 s). All of it, 10^5 steps in a quarter of an hour:
// `SOAK=on WHOLE_MODEL=on npx vitest run --project integration test/payments/model`.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { refundTopup } from '../../src/core/payments/clawbacks/refund.ts';
import { checkTopup } from '../../src/core/payments/topups/check.ts';
import { createTopup } from '../../src/core/payments/topups/create.ts';
import type { TopupRow } from '../../src/core/payments/topups/store.ts';
import type { Principal } from '../../src/core/principal.ts';
import { examineAccount } from '../../src/core/upkeep/doctor.ts';
import { chargeWork } from '../../src/core/wallet/charge/charge-work.ts';
import { expireGrants, grantCredit } from '../../src/core/wallet/grants.ts';
import { openWallet } from '../../src/core/wallet/open-wallet.ts';
import { statement } from '../../src/db/statement.ts';
import { DAY_MS } from '../../src/lib/time.ts';
import { Problem } from '../../src/problems/problem.ts';
import type { Currency } from '../../src/vendors/payments/port.ts';
import { createTestAccount, type TestAccount } from '../support/service.ts';
import { isSoak, rounds } from '../support/soak.ts';
import { call as laneCall } from '../wallet/harness.ts';
import { openTill, type Till } from './harness.ts';

const isWhole = isSoak && process.env.WHOLE_MODEL === 'on';
const HISTORIES = isWhole ? 250 : 10;
const STEPS = isWhole ? 400 : isSoak ? 250 : 120;
const MICRO = 1_000n;

let till: Till;
beforeAll(async () => {
  till = await openTill({ FX_RATES: '{"EUR": 0.901, "JPY": 150.5}' });
});
afterAll(() => till?.close());

const share = fc.integer({ min: 1, max: 100 });
const pick = fc.nat({ max: 1_000 });
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('charge' as const), micros: fc.integer({ min: 1, max: 8_000_000 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('hold' as const), micros: fc.integer({ min: 1, max: 6_000_000 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('settle' as const), which: pick, share: fc.integer({ min: 0, max: 100 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('topup' as const),
      cents: fc.integer({ min: 500, max: 2_000 }),
      currency: fc.constantFrom<Currency>('USD', 'EUR', 'JPY', 'CNY'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('promo' as const),
      micros: fc.integer({ min: 1, max: 4_000_000 }),
      days: fc.integer({ min: 1, max: 9 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('refund' as const), which: pick, share }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('refundElsewhere' as const), which: pick, share }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('dispute' as const), which: pick, share }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('close' as const), which: pick, won: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 4 }) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface Books {
  readonly balance: bigint;
  readonly held: bigint;
  readonly debt: bigint;
  readonly frozen: string | null;
  readonly expired: bigint;
  readonly back: bigint;
  readonly disputes: bigint;
}

const readBooks = statement(
  'test_model_books',
  `SELECT w.balance_nanos AS balance, w.held_nanos AS held, w.debt_nanos AS debt, w.frozen_reason AS frozen,
          (SELECT coalesce(-sum(amount_nanos), 0) FROM core.ledger WHERE account_id = $1 AND kind = 'expire') AS expired,
          (SELECT coalesce(sum(amount_nanos), 0) FROM core.clawback WHERE account_id = $1 AND status <> 'restored') AS back,
          (SELECT count(*) FROM core.clawback WHERE account_id = $1 AND kind = 'dispute' AND status = 'pending') AS disputes
     FROM core.wallet w WHERE w.account_id = $1`,
);

/** A history of one account, and what came in and went out of it as the steps say. */
class History {
  readonly #account: TestAccount;
  readonly #principal: Principal;
  readonly #topups: TopupRow[] = [];
  readonly #holds: { id: string; nanos: bigint }[] = [];
  readonly #disputes: { ref: string; topup: TopupRow }[] = [];
  /** After the last step. */
  #books: Books | undefined;
  credited = 0n;
  spent = 0n;

  constructor(account: TestAccount, principal: Principal) {
    this.#account = account;
    this.#principal = principal;
  }

  static async begin(): Promise<History> {
    const account = await createTestAccount(till.service.core, 0);
    return new History(account, (await till.service.core.keys.find(account.secret)) as Principal);
  }

  async books(): Promise<Books> {
    const { rows } = await till.service.core.db.query<Books>(readBooks, [this.#account.accountId]);
    return rows[0] as Books;
  }

  async take(one: Step): Promise<void> {
    const before = this.#books ?? (await this.books());
    switch (one.do) {
      case 'charge':
        return this.#charge(BigInt(one.micros) * MICRO, before);
      case 'hold':
        return this.#hold(BigInt(one.micros) * MICRO, before);
      case 'settle':
        return this.#settle(one.which, one.share);
      case 'topup':
        return this.#topup(BigInt(one.cents) * 10_000n * MICRO, one.currency);
      case 'promo':
        return this.#promo(BigInt(one.micros) * MICRO, one.days);
      case 'refund':
        return this.#refund(one.which, one.share);
      case 'refundElsewhere':
      case 'dispute':
        return this.#takeBack(one.do, one.which, one.share);
      case 'close':
        return this.#close(one.which, one.won, before);
      case 'wait':
        return this.#wait(one.days);
    }
  }

  async #charge(nanos: bigint, before: Books): Promise<void> {
    const { db, prices } = till.service.core;
    const units = nanos / 20_000n + 1n;
    const verdict = await db.transaction(async (tx) => {
      const opened = await openWallet(tx, this.#account.accountId);
      if (opened === null) throw new Error('the account of the test is gone');
      return (
        await chargeWork(tx, opened, prices, [{ capability: 'queue.publish', keyId: this.#account.keyId, units }])
      )[0];
    });
    if (before.frozen !== null) expect(verdict).toEqual({ charged: false, reason: 'frozen' });
    if (verdict?.charged === true) this.spent += verdict.costNanos;
  }

  async #hold(amount: bigint, before: Books): Promise<void> {
    const item = laneCall({ ...this.#account, principal: this.#principal }, { amount });
    const outcome = await till.service.core.holds.authorize(item);
    if (before.frozen !== null) expect(outcome).toMatchObject({ kind: 'refused', problem: { detail: 'frozen' } });
    if (outcome.kind === 'held') this.#holds.push({ id: outcome.hold.holdId, nanos: amount });
  }

  async #settle(which: number, share: number): Promise<void> {
    const [hold] = this.#holds.splice(which % (this.#holds.length || 1), 1);
    if (hold === undefined) return;
    const capturedNanos = (hold.nanos * BigInt(share)) / 100n;
    const { holds } = till.service.core;
    const end = await holds.capture(this.#account.accountId, hold.id, { capturedNanos });
    // One that lay for more than a quarter of an hour has been released.
    if (end?.settledNow === true) this.spent += capturedNanos;
  }

  async #topup(amountNanos: bigint, currency: Currency): Promise<void> {
    const { core } = till.service;
    const order = { amountNanos, currency, saveMethod: false, returnUrl: null };
    const topup = await createTopup(core, this.#account.accountId, order);
    await till.bench.pay(topup.checkout_url as string, 'pays');
    const paid = (await this.#check(topup)) as TopupRow;
    expect(paid.status).toBe('succeeded');
    this.credited += amountNanos;
    this.#topups.push(paid);
  }

  #check({ topup_id }: TopupRow) {
    return checkTopup(till.service.core, { accountId: this.#account.accountId, id: topup_id, attempt: -1 });
  }

  async #promo(amountNanos: bigint, days: number): Promise<void> {
    const grant = { kind: 'promo' as const, amountNanos, expiresInMs: days * DAY_MS, note: null };
    await till.service.core.db.transaction((tx) => grantCredit(tx, this.#account.accountId, grant));
    this.credited += amountNanos;
  }

  async #refund(which: number, share: number): Promise<void> {
    const topup = this.#topups[which % (this.#topups.length || 1)];
    if (topup === undefined) return;
    const part = (topup.amount_nanos * BigInt(share)) / 100n;
    try {
      await refundTopup(till.service.core, this.#account.accountId, topup.topup_id, part);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'STATE_CONFLICT') throw error;
    }
  }

  async #takeBack(what: 'refundElsewhere' | 'dispute', which: number, share: number): Promise<void> {
    const topup = this.#topups[which % (this.#topups.length || 1)];
    if (topup === undefined) return;
    const minor = Number(topup.charge_minor * BigInt(share)) / 100;
    const ref = await till.bench[what](topup.payment_ref as string, Math.max(1, Math.floor(minor)));
    if (what === 'dispute') this.#disputes.push({ ref: ref as string, topup });
    // What a hold gave back of expired credit is no credit.
    await this.#expire();
    const before = await this.books();
    await this.#check(topup);
    const after = await this.books();
    // Nobody owes what he could pay.
    if (after.debt > before.debt) expect(after.balance).toBe(after.held);
  }

  async #close(which: number, won: boolean, before: Books): Promise<void> {
    const [closed] = this.#disputes.splice(which % (this.#disputes.length || 1), 1);
    if (closed === undefined) return;
    await till.bench.closeDispute(closed.ref, won ? 'won' : 'lost');
    await this.#check(closed.topup);
    await this.#check(closed.topup);
    const after = await this.books();
    const gained = after.balance - after.debt - (before.balance - before.debt);
    expect(gained).toBe(won ? before.back - after.back : 0n);
  }

  async #wait(days: number): Promise<void> {
    const { service } = till;
    await service.advance(days * 86_400);
    await service.core.holds.expireOverdue(new AbortController().signal);
    await this.#expire();
  }

  async #expire(): Promise<void> {
    await till.service.core.db.transaction((tx) => expireGrants(tx, this.#account.accountId));
  }

  async expectSound(): Promise<void> {
    const books = await this.books();
    this.#books = books;
    expect(books.balance - books.debt).toBe(this.credited - this.spent - books.expired - books.back);
    expect(books.balance >= books.held && books.debt >= 0n).toBe(true);
    expect(books.frozen).toBe(books.disputes > 0n ? 'dispute' : books.debt > 0n ? 'debt' : null);
  }

  async expectNoFindings(): Promise<void> {
    const { db } = till.service.core;
    expect(await examineAccount({ db, secrets: null, modules: [] }, this.#account.accountId)).toEqual([]);
  }
}

test('in every history the books add up, nothing is below zero, and the wallet is frozen exactly while it must be', {
  timeout: 3_600_000,
}, async () => {
  const history = fc.array(step, { minLength: STEPS, maxLength: STEPS });
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      const account = await History.begin();
      for (const [i, one] of steps.entries()) {
        await account.take(one);
        await account.expectSound();
        if (i % 20 === 19) await account.expectNoFindings();
      }
    }),
    { numRuns: rounds(HISTORIES), endOnFailure: true },
  );
});
