// One random history of a person's credit: what came in and went out as they say, and what must be true after each. When the account
// goes over into another the history goes on there; payments of the accounts before go on being refunded and disputed.
import { expect } from 'vitest';
import type { Principal } from '../../src/core/callers/principal.ts';
import { chargeWork } from '../../src/core/wallet/charge/charge-work.ts';
import { expireGrants, grantCredit } from '../../src/core/wallet/grants.ts';
import { openWallet } from '../../src/core/wallet/open-wallet.ts';
import { DAY_MS } from '../../src/lib/time.ts';
import { refundTopup } from '../../src/payments/clawbacks/refund.ts';
import { configureRecharge } from '../../src/payments/recharge/configure.ts';
import { checkReturns } from '../../src/payments/recharge/returns.ts';
import { lastAttempt } from '../../src/payments/recharge/store.ts';
import { checkTopup } from '../../src/payments/topups/check.ts';
import { createTopup } from '../../src/payments/topups/create.ts';
import type { TopupRow } from '../../src/payments/topups/store.ts';
import { absorbAccount } from '../../src/people/absorbing/absorb.ts';
import { Problem } from '../../src/problems/problem.ts';
import { examineAccount } from '../../src/upkeep/doctor.ts';
import type { Currency } from '../../src/vendors/payments/port.ts';
import { entering } from '../support/enter.ts';
import { createTestAccount, type TestAccount } from '../support/service.ts';
import { call as laneCall } from '../wallet/harness.ts';
import { Customer, type Till } from './harness.ts';
import { type Books, bounceRefunds, readBooks } from './model-books.ts';
import type { Step } from './model-steps.ts';
import { Recharged, USD } from './recharge-harness.ts';

const MICRO = 1_000n;
const CENT = USD / 100n;

/** What was paid for credit, in the account where it was. */
interface Payment {
  readonly kind: 'topup' | 'recharge';
  readonly accountId: string;
  readonly id: string;
  readonly paymentRef: string;
  readonly amountNanos: bigint;
  readonly chargeMinor: bigint;
}

interface Hold {
  readonly accountId: string;
  readonly id: string;
  readonly nanos: bigint;
}

export class History {
  readonly #till: Till;
  #account: TestAccount;
  #principal: Principal;
  /** All that the credit was in, the newest last. */
  readonly #accountIds: string[];
  readonly #payments: Payment[] = [];
  readonly #holds: Hold[] = [];
  readonly #disputes: { ref: string; payment: Payment }[] = [];
  /** With a card, in the account where it is. */
  #recharged: Recharged | undefined;
  /** After the last step. */
  #books: Books | undefined;
  #credited = 0n;
  #spent = 0n;

  private constructor(till: Till, account: TestAccount, principal: Principal) {
    this.#till = till;
    this.#account = account;
    this.#principal = principal;
    this.#accountIds = [account.accountId];
  }

  static async begin(till: Till): Promise<History> {
    const account = await createTestAccount(till.service.core, 0);
    return new History(till, account, (await till.service.core.keys.find(account.secret)) as Principal);
  }

  get #core() {
    return this.#till.service.core;
  }

  #read(): Promise<Books> {
    return readBooks(this.#core.db, this.#accountIds, this.#account.accountId);
  }

  async take(one: Step): Promise<void> {
    const before = this.#books ?? (await this.#read());
    switch (one.do) {
      case 'charge':
        return this.#charge(BigInt(one.micros) * MICRO, before);
      case 'hold':
        return this.#hold(BigInt(one.micros) * MICRO, before);
      case 'settle':
        return this.#settle(one.which, one.share);
      case 'topup':
        return this.#topup(BigInt(one.cents) * CENT, one.currency);
      case 'promo':
        return this.#promo(BigInt(one.micros) * MICRO, one.days);
      case 'recharge':
        return this.#recharge(BigInt(one.cents) * CENT, before);
      case 'goOver':
        return this.#goOver(one.usd, before);
      case 'refund':
        return this.#refund(one.which, one.share);
      case 'refundElsewhere':
      case 'dispute':
        return this.#takeBack(one.do, one.which, one.share);
      case 'close':
        return this.#close(one.which, one.won, before);
      case 'bounce':
        return this.#bounce(one.which);
      case 'wait':
        return this.#wait(one.days);
    }
  }

  async #charge(nanos: bigint, before: Books): Promise<void> {
    const { db, prices } = this.#core;
    const units = nanos / 20_000n + 1n;
    const verdict = await db.transaction(async (tx) => {
      const opened = await openWallet(tx, this.#account.accountId);
      if (opened === null) throw new Error('the account of the test is gone');
      return (
        await chargeWork(tx, opened, prices, [{ capability: 'queue.publish', keyId: this.#account.keyId, units }])
      )[0];
    });
    if (before.frozen !== null) expect(verdict).toEqual({ charged: false, reason: 'frozen' });
    if (verdict?.charged === true) this.#spent += verdict.costNanos;
  }

  async #hold(amount: bigint, before: Books): Promise<void> {
    const item = laneCall({ ...this.#account, principal: this.#principal }, { amount });
    const outcome = await this.#core.holds.authorize(item);
    if (before.frozen !== null) expect(outcome).toMatchObject({ kind: 'refused', problem: { detail: 'frozen' } });
    const { accountId } = this.#account;
    if (outcome.kind === 'held') this.#holds.push({ accountId, id: outcome.hold.holdId, nanos: amount });
  }

  async #settle(which: number, share: number): Promise<void> {
    const [hold] = this.#holds.splice(which % (this.#holds.length || 1), 1);
    if (hold === undefined) return;
    const capturedNanos = (hold.nanos * BigInt(share)) / 100n;
    const end = await this.#core.holds.capture(hold.accountId, hold.id, { capturedNanos });
    // One that lay for more than a quarter of an hour has been released.
    if (end?.settledNow === true) this.#spent += capturedNanos;
  }

  async #topup(amountNanos: bigint, currency: Currency): Promise<void> {
    const { accountId } = this.#account;
    const order = { amountNanos, currency, saveMethod: false, returnUrl: null };
    const { topup_id: id, checkout_url } = await createTopup(this.#core, accountId, entering(accountId), order);
    await this.#till.bench.pay(checkout_url as string, 'pays');
    const paid = (await checkTopup(this.#core, { accountId, id, attempt: -1 })) as TopupRow;
    expect(paid.status).toBe('succeeded');
    this.#credited += amountNanos;
    const { payment_ref, charge_minor: chargeMinor } = paid;
    this.#payments.push({ kind: 'topup', accountId, id, paymentRef: payment_ref as string, amountNanos, chargeMinor });
  }

  async #promo(amountNanos: bigint, days: number): Promise<void> {
    const grant = { kind: 'promo' as const, amountNanos, expiresInMs: days * DAY_MS, note: null };
    await this.#core.db.transaction((tx) => grantCredit(tx, this.#account.accountId, grant));
    this.#credited += amountNanos;
  }

  /** Once, whatever is there: it is off again afterwards. */
  async #recharge(amountNanos: bigint, before: Books): Promise<void> {
    const { accountId } = this.#account;
    const last = await lastAttempt(this.#core.db, accountId);
    if (this.#recharged === undefined) {
      this.#recharged = new Recharged(this.#till, new Customer(this.#till, this.#account));
      await this.#recharged.leave('pays');
    }
    await this.#till.service.advance(61);
    await this.#configure(amountNanos, true);
    const attempt = await this.#recharged.look();
    await this.#configure(amountNanos, false);
    if (attempt === null || attempt.attempt_id === last?.attempt_id) return;
    expect([attempt.status, attempt.amount_nanos, before.frozen]).toEqual(['succeeded', amountNanos, null]);
    this.#credited += amountNanos;
    const { attempt_id: id, payment_ref } = attempt;
    const chargeMinor = amountNanos / CENT;
    this.#payments.push({
      kind: 'recharge',
      accountId,
      id,
      paymentRef: payment_ref as string,
      amountNanos,
      chargeMinor,
    });
  }

  async #configure(amountNanos: bigint, enabled: boolean): Promise<void> {
    const caps = { max_per_day: 1_000, max_per_month: 10_000 };
    const order = { enabled, trigger_nanos: 1_000_000n * USD, amount_nanos: amountNanos, method_id: null, ...caps };
    const unknown = () => new Error('the default method is unknown');
    await this.#core.db.transaction((tx) =>
      configureRecharge(tx, this.#account.accountId, order, this.#core.payments, unknown),
    );
  }

  /** Into a new account that has `usd`; what is frozen stays. */
  async #goOver(usd: number, before: Books): Promise<void> {
    while (this.#holds.length > 0) await this.#settle(0, 0);
    await this.#expire();
    const into = await createTestAccount(this.#core, usd);
    const moving = { from: this.#account.accountId, into: into.accountId };
    const going = absorbAccount(this.#core, moving, async () => true);
    if (before.frozen !== null) {
      await expect(going).rejects.toMatchObject({ detail: 'account_not_empty' });
      return;
    }
    await going;
    this.#credited += BigInt(usd) * USD;
    this.#account = into;
    this.#principal = (await this.#core.keys.find(into.secret)) as Principal;
    this.#accountIds.push(into.accountId);
    this.#recharged = undefined;
  }

  async #refund(which: number, share: number): Promise<void> {
    const payment = this.#payment(which);
    if (payment?.kind !== 'topup') return;
    const part = (payment.amountNanos * BigInt(share)) / 100n;
    try {
      await refundTopup(this.#core, payment.accountId, payment.id, part);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'STATE_CONFLICT') throw error;
    }
  }

  #payment(which: number): Payment | undefined {
    return this.#payments[which % (this.#payments.length || 1)];
  }

  async #check({ kind, accountId, id }: Payment): Promise<void> {
    const job = { accountId, id, attempt: -1 };
    await (kind === 'topup' ? checkTopup(this.#core, job) : checkReturns(this.#core, job));
  }

  async #takeBack(what: 'refundElsewhere' | 'dispute', which: number, share: number): Promise<void> {
    const payment = this.#payment(which);
    if (payment === undefined) return;
    const minor = Number(payment.chargeMinor * BigInt(share)) / 100;
    const ref = await this.#till.bench[what](payment.paymentRef, Math.max(1, Math.floor(minor)));
    if (what === 'dispute') this.#disputes.push({ ref: ref as string, payment });
    // What a hold gave back of expired credit is no credit.
    await this.#expire();
    const before = await this.#read();
    await this.#check(payment);
    const after = await this.#read();
    // Nobody owes what he could pay.
    if (after.debt > before.debt) expect(after.balance).toBe(after.held);
  }

  async #close(which: number, won: boolean, before: Books): Promise<void> {
    const [closed] = this.#disputes.splice(which % (this.#disputes.length || 1), 1);
    if (closed === undefined) return;
    await this.#till.bench.closeDispute(closed.ref, won ? 'won' : 'lost');
    await this.#check(closed.payment);
    await this.#check(closed.payment);
    const after = await this.#read();
    const gained = after.balance - after.debt - (before.balance - before.debt);
    expect(gained).toBe(won ? before.back - after.back : 0n);
  }

  async #bounce(which: number): Promise<void> {
    const payment = this.#payment(which);
    if (payment === undefined) return;
    await this.#core.db.query(bounceRefunds, [payment.paymentRef]);
    await this.#check(payment);
  }

  async #wait(days: number): Promise<void> {
    await this.#till.service.advance(days * 86_400);
    await this.#core.holds.expireOverdue(new AbortController().signal);
    await this.#expire();
  }

  async #expire(): Promise<void> {
    await this.#core.db.transaction((tx) => expireGrants(tx, this.#account.accountId));
  }

  /** What is there less what is owed is what came in less what went out; an account that was left has and owes nothing. */
  async expectSound(): Promise<void> {
    const books = await this.#read();
    this.#books = books;
    expect(books.balance - books.debt).toBe(this.#credited - this.#spent - books.expired - books.back);
    expect(books.balance >= books.held && books.debt >= 0n).toBe(true);
    expect(books.frozen).toBe(books.disputes > 0n ? 'dispute' : books.debt > 0n ? 'debt' : null);
    expect(books.leftBehind).toBe(0n);
  }

  async expectNoFindings(): Promise<void> {
    const { db } = this.#core;
    for (const accountId of this.#accountIds)
      expect(await examineAccount({ db, secrets: null, modules: [] }, accountId)).toEqual([]);
  }
}
