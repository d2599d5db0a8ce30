// What goes back of automatic recharges, and of payments whose credit went over into another account: the same as of top-ups.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { refundTopup } from '../../src/payments/clawbacks/refund.ts';
import { checkReturns } from '../../src/payments/recharge/returns.ts';
import { type AttemptRow, lastAttempt } from '../../src/payments/recharge/store.ts';
import { checkTopup } from '../../src/payments/topups/check.ts';
import { absorbAccount } from '../../src/people/absorbing/absorb.ts';
import { Customer, openTill, type Till } from './harness.ts';
import { Recharged, USD } from './recharge-harness.ts';

let till: Till;
beforeAll(async () => {
  till = await openTill();
});
afterAll(() => till?.close());

/** A wallet that was recharged with 25 USD, is not any more, and has `usd` beside it. */
async function recharged(usd = 4) {
  const wallet = await Recharged.open(till, { usd });
  const attempt = (await wallet.look()) as AttemptRow;
  expect(attempt.status).toBe('succeeded');
  await wallet.configure({ enabled: false });
  return { wallet, attempt, paymentRef: attempt.payment_ref as string };
}

const read = ({ account_id: accountId, attempt_id: id }: AttemptRow) =>
  checkReturns(till.service.core, { accountId, id, attempt: -1 });

/** The account goes over into a new one. Answers who owns that. */
async function goOver(from: Customer, usd = 0): Promise<Customer> {
  const into = await Customer.open(till, usd);
  const moving = { from: from.account.accountId, into: into.account.accountId };
  await absorbAccount(till.service.core, moving, async () => true);
  return into;
}

/** A database whose process dies before its n-th transaction. */
function dyingBefore(n: number): Database {
  let transactions = 0;
  return new Proxy(till.service.core.db, {
    get(target, name) {
      if (name !== 'transaction') return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name);
      return (work: Parameters<typeof target.transaction>[0]) => {
        transactions += 1;
        return transactions === n ? Promise.reject(new Error('killed')) : target.transaction(work);
      };
    },
  });
}

describe('a recharge', () => {
  test('that is refunded at the provider is taken back, once, and what was spent of it is owed', async () => {
    const { wallet, attempt, paymentRef } = await recharged();
    await till.bench.refundElsewhere(paymentRef, 1_000);
    await read(attempt);
    expect(await read(attempt)).toMatchObject({ refunded_nanos: 10n * USD, return_open: false });
    expect(await wallet.balance()).toBe(19);
    expect((await wallet.show()).last_attempt).toMatchObject({ refunded_usd: 10, dispute: null });
    await wallet.spend(19n * USD);
    await till.bench.refundElsewhere(paymentRef, 1_500);
    await read(attempt);
    expect(await wallet.customer.balance()).toMatchObject({ balance_usd: 0, debt_usd: 15, frozen_reason: 'debt' });
    await wallet.customer.expectSound();
  });

  test('that is disputed freezes the wallet, so that nothing is recharged; won, all is given back', async () => {
    const { wallet, attempt, paymentRef } = await recharged();
    await wallet.spend(20n * USD);
    const dispute = await till.bench.dispute(paymentRef, 2_500);
    expect(await read(attempt)).toMatchObject({ dispute_status: 'open', dispute_nanos: 25n * USD, return_open: true });
    expect(await wallet.customer.balance()).toMatchObject({ balance_usd: 0, debt_usd: 16, frozen_reason: 'dispute' });
    await wallet.configure();
    await till.service.advance(61);
    await wallet.look();
    expect(await wallet.paymentsMade()).toBe(1);
    await till.bench.closeDispute(dispute, 'won');
    await read(attempt);
    await read(attempt);
    expect(await wallet.customer.balance()).toMatchObject({ balance_usd: 9, debt_usd: 0, frozen_reason: null });
    await wallet.customer.expectSound();
  });

  test('that is disputed and lost stays taken; the wallet is free', async () => {
    const { wallet, attempt, paymentRef } = await recharged();
    const dispute = await till.bench.dispute(paymentRef, 2_500);
    await read(attempt);
    await till.bench.closeDispute(dispute, 'lost');
    expect(await read(attempt)).toMatchObject({ dispute_status: 'lost', return_open: false });
    expect(await wallet.customer.balance()).toMatchObject({ balance_usd: 4, debt_usd: 0, frozen_reason: null });
    await wallet.customer.expectSound();
  });

  test('is read again daily for a week without any hint, and for as long as a dispute of it is open', async () => {
    const { wallet, attempt, paymentRef } = await recharged();
    const dueInDays = async () => {
      const text = `SELECT round(extract(epoch FROM due_at - core.clock_now()) / 86400)::int AS days
                      FROM core.recharge_attempt WHERE account_id = $1`;
      const { rows } = await till.service.core.db.query<{ days: number | null }>({ name: 'test_due_in', text }, [
        wallet.accountId,
      ]);
      return rows[0]?.days;
    };
    const readNow = async () => {
      const { tries } = (await lastAttempt(till.service.core.db, wallet.accountId)) as AttemptRow;
      await checkReturns(till.service.core, { accountId: wallet.accountId, id: attempt.attempt_id, attempt: tries });
    };
    expect(await dueInDays()).toBe(1);
    await till.bench.dispute(paymentRef, 100);
    await till.service.advance(8 * 86_400);
    await readNow();
    expect([await dueInDays(), (await wallet.customer.balance()).frozen_reason]).toEqual([1, 'dispute']);
    const text = `UPDATE core.sandbox_return SET status = 'won' WHERE payment_ref = $1`;
    await till.service.core.db.query({ name: 'test_win', text }, [paymentRef]);
    await readNow();
    expect([await dueInDays(), (await wallet.customer.balance()).frozen_reason]).toEqual([null, null]);
  });
});

describe('credit that went over into another account', () => {
  test('is taken back there, with what was taken before in mind: of a top-up, its own grant first', async () => {
    const customer = await Customer.open(till);
    const topup = await customer.paid({ amount_usd: 10 });
    const paymentRef = await customer.paymentRef(topup);
    await till.bench.refundElsewhere(paymentRef, 400);
    await customer.check(topup);
    const into = await goOver(customer, 5);
    const third = await goOver(into, 1);
    expect((await third.balance()).balance_usd).toBe(12);
    await till.bench.refundElsewhere(paymentRef, 100);
    await customer.check(topup);
    await customer.check(topup);
    expect(await third.balance()).toMatchObject({ balance_usd: 11, debt_usd: 0 });
    const dispute = await till.bench.dispute(paymentRef, 500);
    await customer.check(topup);
    expect(await third.balance()).toMatchObject({ balance_usd: 6, paid_usd: 6, frozen_reason: 'dispute' });
    await till.bench.closeDispute(dispute, 'won');
    await customer.check(topup);
    expect(await third.balance()).toMatchObject({ balance_usd: 11, paid_usd: 11, frozen_reason: null });
    const { accountId } = customer.account;
    await expect(refundTopup(till.service.core, accountId, topup.topup_id, null)).rejects.toMatchObject({
      code: 'STATE_CONFLICT',
      message: expect.stringContaining(into.account.accountId),
    });
    for (const each of [customer, into, third]) await each.expectSound();
  });

  test('and is spent is owed there; the account that is left owes nothing; won, what was paid of it is credited', async () => {
    const { wallet, attempt, paymentRef } = await recharged(0.5);
    await wallet.spend(25n * USD + USD / 2n);
    const into = await goOver(wallet.customer, 3);
    const dispute = await till.bench.dispute(paymentRef, 2_500);
    await read(attempt);
    expect(await into.balance()).toMatchObject({ balance_usd: 0, debt_usd: 22, frozen_reason: 'dispute' });
    const own = await into.paid({ amount_usd: 10 });
    expect(own.status).toBe('succeeded');
    expect(await into.balance()).toMatchObject({ balance_usd: 0, debt_usd: 12 });
    await till.bench.closeDispute(dispute, 'won');
    await read(attempt);
    expect(await read(attempt)).toMatchObject({ dispute_status: 'won', return_open: false });
    expect(await into.balance()).toMatchObject({ balance_usd: 13, debt_usd: 0, paid_usd: 13, frozen_reason: null });
    const again = await till.bench.dispute(paymentRef, 2_500);
    await read(attempt);
    await till.bench.closeDispute(again, 'won');
    await read(attempt);
    expect(await into.balance()).toMatchObject({ balance_usd: 13, debt_usd: 0, frozen_reason: null });
    for (const each of [wallet.customer, into]) await each.expectSound();
  });

  test('which dies between the two accounts is taken once', async () => {
    const customer = await Customer.open(till);
    const topup = await customer.paid({ amount_usd: 10 });
    const into = await goOver(customer);
    await till.bench.refundElsewhere(await customer.paymentRef(topup), 300);
    const { core } = till.service;
    // After what was taken there is committed, and before it is written here.
    const job = { accountId: customer.account.accountId, id: topup.topup_id, attempt: -1 };
    await expect(checkTopup({ ...core, db: dyingBefore(3) }, job)).rejects.toThrow('killed');
    expect((await into.balance()).balance_usd).toBe(7);
    expect(await checkTopup(core, job)).toMatchObject({ refunded_nanos: 3n * USD });
    expect((await into.balance()).balance_usd).toBe(7);
  });

  test('comes back there, once, when a refund that was taken before it went bounces', async () => {
    const customer = await Customer.open(till);
    const topup = await customer.paid({ amount_usd: 10 });
    const paymentRef = await customer.paymentRef(topup);
    await till.bench.refundElsewhere(paymentRef, 400);
    await customer.check(topup);
    const into = await goOver(customer, 1);
    const third = await goOver(into);
    const text = `UPDATE core.sandbox_return SET status = 'failed' WHERE payment_ref = $1`;
    await till.service.core.db.query({ name: 'test_bounce', text }, [paymentRef]);
    const { core } = till.service;
    const job = { accountId: customer.account.accountId, id: topup.topup_id, attempt: -1 };
    // After it was given in the third, and before it is written where it was taken.
    await expect(checkTopup({ ...core, db: dyingBefore(4) }, job)).rejects.toThrow('killed');
    expect(await third.balance()).toMatchObject({ balance_usd: 11, paid_usd: 11 });
    const fourth = await goOver(third);
    expect(await checkTopup(core, job)).toMatchObject({ refunded_nanos: 0n, return_open: false });
    await customer.check(topup);
    expect((await fourth.balance()).balance_usd).toBe(11);
    await till.bench.refundElsewhere(paymentRef, 1_000);
    await customer.check(topup);
    expect(await fourth.balance()).toMatchObject({ balance_usd: 1, debt_usd: 0 });
    for (const each of [customer, into, third, fourth]) await each.expectSound();
  });

  test('does not go while a refund of it is not decided', async () => {
    const customer = await Customer.open(till);
    const topup = await customer.paid({ amount_usd: 10 });
    const text = `UPDATE core.clawback SET status = 'pending' WHERE account_id = $1`;
    await refundTopup(till.service.core, customer.account.accountId, topup.topup_id, USD);
    await till.service.core.db.query({ name: 'test_open_refund', text }, [customer.account.accountId]);
    await expect(goOver(customer)).rejects.toMatchObject({ detail: 'account_not_empty' });
  });
});
