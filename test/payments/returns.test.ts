// Money that goes back: refunds by the operator and elsewhere, disputes, what is owed, and what a frozen wallet does.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Principal } from '../../src/core/callers/principal.ts';
import { chargeWork } from '../../src/core/wallet/charge/charge-work.ts';
import { readFunds } from '../../src/core/wallet/funds.ts';
import { grantCredit } from '../../src/core/wallet/grants.ts';
import { openWallet } from '../../src/core/wallet/open-wallet.ts';
import { refundTopup } from '../../src/payments/clawbacks/refund.ts';
import { approveTopup } from '../../src/payments/topups/review.ts';
import { examineAccount } from '../../src/upkeep/doctor.ts';
import { type PaymentProvider, PaymentProviderError } from '../../src/vendors/payments/port.ts';
import { call as laneCall } from '../wallet/harness.ts';
import { Customer, openTill, type Till } from './harness.ts';

let till: Till;
beforeAll(async () => {
  till = await openTill();
});
afterAll(() => till?.close());

const USD = 10n ** 9n;

async function withTopup(input: object = {}) {
  const customer = await Customer.open(till);
  const topup = await customer.paid(input);
  return { customer, topup, paymentRef: await customer.paymentRef(topup) };
}

const refund = (customer: Customer, topup: { topup_id: string }, nanos: bigint | null) =>
  refundTopup(till.service.core, customer.account.accountId, topup.topup_id, nanos);

function spend({ account }: Customer, nanos: bigint) {
  const { db, prices } = till.service.core;
  return db.transaction(async (tx) => {
    const opened = await openWallet(tx, account.accountId);
    if (opened === null) throw new Error('the account of the test is gone');
    const work = { capability: 'queue.publish', keyId: account.keyId, units: nanos / 20_000n };
    return (await chargeWork(tx, opened, prices, [work]))[0];
  });
}

const promo = (customer: Customer, amountNanos: bigint) =>
  till.service.core.db.transaction((tx) =>
    grantCredit(tx, customer.account.accountId, { kind: 'promo', amountNanos, expiresInMs: null, note: null }),
  );

async function hold({ account }: Customer, amount: bigint) {
  const { holds, keys } = till.service.core;
  const principal = (await keys.find(account.secret)) as Principal;
  const outcome = await holds.authorize(laneCall({ ...account, principal }, { amount }));
  if (outcome.kind !== 'held') throw new Error(outcome.kind);
  return outcome.hold.holdId;
}

describe('a refund by the operator', () => {
  test('is taken out, paid back once, and shown; no more than what is left of the top-up', async () => {
    const { customer, topup } = await withTopup({ amount_usd: 10 });
    await promo(customer, 5n * USD);
    await spend(customer, 7n * USD);
    await expect(refund(customer, topup, 9n * USD)).rejects.toMatchObject({ code: 'STATE_CONFLICT' });
    const first = await refund(customer, topup, 3n * USD);
    expect(first?.refund).toMatchObject({ status: 'done', amount_minor: 300n });
    expect((await refund(customer, topup, null))?.refund).toMatchObject({ amount_nanos: 5n * USD });
    await expect(refund(customer, topup, null)).rejects.toMatchObject({ code: 'STATE_CONFLICT' });
    expect(await customer.check(topup)).toMatchObject({ status: 'succeeded', refunded_usd: 8 });
    expect(await customer.balance()).toMatchObject({ balance_usd: 0, debt_usd: 0, frozen_reason: null });
    await customer.expectSound();
  });

  test('that the provider refuses is given back whole', async () => {
    const { customer, topup, paymentRef } = await withTopup();
    await till.bench.refundElsewhere(paymentRef, 600);
    expect((await refund(customer, topup, 10n * USD))?.refund.status).toBe('restored');
    expect((await customer.balance()).balance_usd).toBe(10);
    expect(await customer.check(topup)).toMatchObject({ refunded_usd: 6 });
    expect((await customer.balance()).balance_usd).toBe(4);
    await customer.expectSound();
  });

  test.each([
    ['made', 6, true],
    ['not made', 6, false],
  ] as const)('whose answer is lost, and that was %s, is settled once by the checks', async (_, left, isMade) => {
    const { customer, topup } = await withTopup();
    const provider = till.service.core.payments.provider as PaymentProvider;
    const make = provider.refund.bind(provider);
    const lost = vi.spyOn(provider, 'refund').mockImplementation(async (request) => {
      if (isMade) await make(request);
      throw new PaymentProviderError('unknown', 'timeout');
    });
    expect((await refund(customer, topup, 4n * USD))?.refund.status).toBe('pending');
    expect((await customer.balance()).balance_usd).toBe(left);
    lost.mockRestore();
    await customer.check(topup);
    expect(await customer.check(topup)).toMatchObject({ refunded_usd: 4 });
    const { refunds } = await provider.read(await customer.paymentRef(topup));
    expect(refunds).toHaveLength(1);
    await customer.expectSound();
  });
});

describe('money that is taken back elsewhere', () => {
  test('comes from its own credit, then other paid, then promotional; never from held parts; the rest is owed', async () => {
    const { customer, topup, paymentRef } = await withTopup({ amount_usd: 10 });
    const other = await customer.paid({ amount_usd: 5 });
    await spend(customer, 6n * USD);
    const holdId = await hold(customer, 3n * USD);
    await promo(customer, 1n * USD);
    // Own: 4 left, 3 of them held; other paid: 5; promotional: 1.
    await till.bench.refundElsewhere(paymentRef, 1_000);
    await customer.check(topup);
    expect(await customer.balance()).toMatchObject({
      balance_usd: 0,
      held_usd: 3,
      debt_usd: 3,
      frozen_reason: 'debt',
    });
    await till.service.core.holds.capture(customer.account.accountId, holdId, { capturedNanos: 2n * USD });
    expect(await customer.balance()).toMatchObject({ held_usd: 0, balance_usd: 1, debt_usd: 3 });
    expect(other.status).toBe('succeeded');
    await customer.expectSound();
  });

  test('comes from its own credit first, and from promotional credit last', async () => {
    const { customer, topup, paymentRef } = await withTopup({ amount_usd: 10 });
    const other = await customer.paid({ amount_usd: 5 });
    await promo(customer, 1n * USD);
    const left = async () => {
      const text = 'SELECT grant_id, remaining_nanos FROM core.credit_grant WHERE account_id = $1';
      const { db } = till.service.core;
      const { rows } = await db.query<{ grant_id: string; remaining_nanos: bigint }>(
        { name: 'test_grants_left', text },
        [customer.account.accountId],
      );
      const of = (id: string) => rows.find(({ grant_id }) => grant_id === id)?.remaining_nanos;
      return [of(topup.grant_id), of(other.grant_id), (await customer.balance()).promo_usd];
    };
    await till.bench.refundElsewhere(paymentRef, 300);
    await customer.check(topup);
    expect(await left()).toEqual([7n * USD, 5n * USD, 1]);
    await spend(customer, 6n * USD);
    expect(await left()).toEqual([2n * USD, 5n * USD, 0]);
    await promo(customer, 1n * USD);
    await till.bench.refundElsewhere(paymentRef, 600);
    await customer.check(topup);
    expect(await left()).toEqual([0n, 1n * USD, 1]);
    await customer.expectSound();
  });

  test('leaves a debt that every later credit pays first; then the wallet is free again', async () => {
    const { customer, topup, paymentRef } = await withTopup({ amount_usd: 10 });
    await spend(customer, 10n * USD);
    await till.bench.refundElsewhere(paymentRef, 1_000);
    await customer.check(topup);
    await promo(customer, 2n * USD);
    expect(await customer.balance()).toMatchObject({ balance_usd: 0, debt_usd: 8, frozen_reason: 'debt' });
    await customer.paid({ amount_usd: 9 });
    expect(await customer.balance()).toMatchObject({ balance_usd: 1, debt_usd: 0, frozen_reason: null });
    await customer.expectSound();
  });

  test('is what the payer got in his currency, and the whole credit with the whole payment', async () => {
    const { customer, topup, paymentRef } = await withTopup({ amount_usd: 10, currency: 'CNY' });
    for (const minor of [1, 2_399, 4_799]) await till.bench.refundElsewhere(paymentRef, minor);
    await customer.check(topup);
    expect((await customer.balance()).balance_usd).toBeCloseTo(10 / 7_200, 9);
    await till.bench.refundElsewhere(paymentRef, 1);
    expect(await customer.check(topup)).toMatchObject({ refunded_usd: 10 });
    expect((await customer.balance()).balance_usd).toBe(0);
    await customer.expectSound();
  });
});

describe('a dispute', () => {
  test('freezes every way of charging while it is open; running holds settle; won, it gives back what it took, once', async () => {
    const { customer, topup, paymentRef } = await withTopup({ amount_usd: 10 });
    await spend(customer, 2n * USD);
    const holdId = await hold(customer, 1n * USD);
    const dispute = await till.bench.dispute(paymentRef, 1_000);
    expect(await customer.check(topup)).toMatchObject({ dispute: { status: 'open', amount_usd: 10 } });
    expect(await customer.balance()).toMatchObject({ balance_usd: 0, debt_usd: 3, frozen_reason: 'dispute' });
    await promo(customer, 5n * USD);
    expect(await customer.balance()).toMatchObject({ balance_usd: 2, debt_usd: 0, frozen_reason: 'dispute' });
    const create = await customer.call('POST', '/v1/queue/create', { name: 'jobs' });
    expect(create.status).toBe(200);
    const publish = () => customer.call('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} });
    const refused = await publish();
    expect([refused.status, refused.body.error.code, refused.body.error.code_detail]).toEqual([
      402,
      'INSUFFICIENT_CREDIT',
      'frozen',
    ]);
    await expect(hold(customer, 1n)).rejects.toThrow('refused');
    expect(await spend(customer, 20_000n)).toEqual({ charged: false, reason: 'frozen' });
    expect(await readFunds(till.service.core.db, customer.account.accountId)).toBe(0n);
    await till.service.core.holds.capture(customer.account.accountId, holdId, { capturedNanos: 1n * USD });
    await till.bench.closeDispute(dispute, 'won');
    await customer.check(topup);
    expect(await customer.check(topup)).toMatchObject({ dispute: { status: 'won', amount_usd: 10 } });
    // 10 + 5 credited, 2 + 1 spent.
    expect(await customer.balance()).toMatchObject({ balance_usd: 12, debt_usd: 0, frozen_reason: null });
    expect((await publish()).status).toBe(200);
    await customer.expectSound();
  });

  test('that is won while what it lacked is still owed cancels that debt, and gives back the rest', async () => {
    const { customer, topup, paymentRef } = await withTopup({ amount_usd: 10 });
    await spend(customer, 6n * USD);
    const dispute = await till.bench.dispute(paymentRef, 1_000);
    await customer.check(topup);
    expect(await customer.balance()).toMatchObject({ balance_usd: 0, debt_usd: 6 });
    await till.bench.closeDispute(dispute, 'won');
    await customer.check(topup);
    expect(await customer.balance()).toMatchObject({ balance_usd: 4, debt_usd: 0, frozen_reason: null });
    await customer.expectSound();
  });

  test('that is lost keeps what it took; the wallet is free unless it owes', async () => {
    const { customer, topup, paymentRef } = await withTopup({ amount_usd: 10 });
    const dispute = await till.bench.dispute(paymentRef, 400);
    await customer.check(topup);
    await till.bench.closeDispute(dispute, 'lost');
    expect(await customer.check(topup)).toMatchObject({ dispute: { status: 'lost', amount_usd: 4 } });
    expect(await customer.balance()).toMatchObject({ balance_usd: 6, frozen_reason: null });
    await customer.expectSound();
  });

  test('beside another one keeps the wallet frozen until both are closed', async () => {
    const { customer, topup, paymentRef } = await withTopup({ amount_usd: 10 });
    const second = await customer.paid({ amount_usd: 10 });
    const disputes = [
      await till.bench.dispute(paymentRef, 1_000),
      await till.bench.dispute(await customer.paymentRef(second), 1_000),
    ] as const;
    await Promise.all([customer.check(topup), customer.check(second)]);
    await till.bench.closeDispute(disputes[0], 'won');
    await customer.check(topup);
    expect(await customer.balance()).toMatchObject({ balance_usd: 10, frozen_reason: 'dispute' });
    await till.bench.closeDispute(disputes[1], 'won');
    await customer.check(second);
    expect(await customer.balance()).toMatchObject({ balance_usd: 20, frozen_reason: null });
    await customer.expectSound();
  });
});

test('a payment that was approved and then refunded by the provider is taken back', async () => {
  const customer = await Customer.open(till);
  const topup = await customer.paid({}, 'reviewed');
  await approveTopup(till.service.core, customer.account.accountId, topup.topup_id);
  await till.bench.refundElsewhere(await customer.paymentRef(topup), 1_000);
  expect(await customer.check(topup)).toMatchObject({ status: 'succeeded', refunded_usd: 10 });
  expect((await customer.balance()).balance_usd).toBe(0);
  await customer.expectSound();
});

test('the doctor finds credit without a payment, a payment without its credit, and a debt that nothing made', async () => {
  const { customer, topup } = await withTopup();
  const { db } = till.service.core;
  await customer.expectSound();
  for (const [name, text] of [
    ['grant', `UPDATE core.credit_grant SET source_id = 'top_other' WHERE account_id = $1`],
    ['debt', 'UPDATE core.wallet SET debt_nanos = 1 WHERE account_id = $1'],
  ] as const)
    await db.query({ name: `test_break_${name}`, text }, [customer.account.accountId]);
  const found = await examineAccount({ db, secrets: null, modules: [] }, customer.account.accountId);
  expect(found.map(({ check, message }) => `${check} ${message}`)).toEqual(
    expect.arrayContaining([
      expect.stringContaining('payments top_other: credit was given for it'),
      expect.stringContaining(`payments ${topup.topup_id} is succeeded: 0 nano-USD were granted`),
      expect.stringContaining('debt 1 nano-USD are owed; 0 were made'),
    ]),
  );
});
