// Top-ups from the call to the credit, with the sandbox: every state, every way to fail, every bound.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { setKycStatus } from '../../src/core/accounts/changes.ts';
import type { Principal } from '../../src/core/callers/principal.ts';
import { expireGrants } from '../../src/core/wallet/grants.ts';
import { endTestCredit } from '../../src/core/wallet/test-credit.ts';
import { lookAgain } from '../../src/payments/look-again.ts';
import { checkTopup } from '../../src/payments/topups/check.ts';
import { approveTopup, rejectTopup } from '../../src/payments/topups/review.ts';
import { allEvents, eventFaults } from '../support/events.ts';
import { createTestAccount, startTestService } from '../support/service.ts';
import { call as laneCall } from '../wallet/harness.ts';
import { Customer, openTill, type Till } from './harness.ts';

let till: Till;
beforeAll(async () => {
  till = await openTill({ FX_RATES: '{"EUR": 0.901, "JPY": 150.5}', TOPUP_REVIEW_ABOVE_USD: '500' });
});
afterAll(() => till?.close());

describe('a top-up', () => {
  test('is credited once it is paid, whoever looks how often, and never before', async () => {
    const customer = await Customer.open(till);
    const topup = await customer.topup({ amount_usd: 12.34 });
    expect(topup).toMatchObject({ status: 'pending', amount_usd: 12.34, charge_amount: 12.34, test_mode: true });
    expect(await customer.check(topup)).toMatchObject({ status: 'pending', credited_at: null });
    expect((await customer.balance()).balance_usd).toBe(0);
    await customer.pay(topup);
    const [paid] = await Promise.all([customer.check(topup), customer.check(topup), customer.check(topup)]);
    expect(paid).toMatchObject({ status: 'succeeded', checkout_url: null, failure_code: null });
    expect(await customer.balance()).toMatchObject({ balance_usd: 12.34, paid_usd: 12.34, test_usd: 12.34 });
    expect(await customer.told()).toEqual(['topup.succeeded']);
    await customer.expectSound();
  });

  test.each([
    ['declines', 'pending', 'card_declined', []],
    ['authenticates', 'succeeded', null, ['topup.succeeded']],
    ['reviewed', 'review', null, ['topup.review_started']],
    ['slow', 'pending', null, []],
    ['declines_later', 'succeeded', null, ['topup.succeeded']],
  ] as const)('with the card that %s is %s', async (card, status, failureCode, events) => {
    const customer = await Customer.open(till);
    expect(await customer.paid({}, card)).toMatchObject({ status, failure_code: failureCode });
    expect((await customer.balance()).balance_usd).toBe(status === 'succeeded' ? 10 : 0);
    expect(await customer.told()).toEqual(events);
    await customer.expectSound();
  });

  test('with a card that pays after 30 s is read again then, without a hint', async () => {
    const customer = await Customer.open(till);
    const topup = await customer.paid({}, 'slow');
    expect(topup).toMatchObject({ status: 'pending' });
    const { core } = till.service;
    const names = [customer.account.accountId, topup.topup_id];
    const read = async (columns: string) => {
      const text = `SELECT ${columns} FROM core.topup t JOIN core.sandbox_payment p ON p.ref = t.checkout_ref WHERE t.account_id = $1 AND t.topup_id = $2`;
      return (await core.db.query<Record<string, number>>({ name: '', text }, names)).rows[0] as Record<string, number>;
    };
    const { attempt } = await read('t.attempt');
    await checkTopup(core, { accountId: customer.account.accountId, id: topup.topup_id, attempt: attempt as number });
    const { due_at: dueMs, pays_at: paysMs } = await read('t.due_at, p.pays_at');
    expect(dueMs).toBe(paysMs);
  });

  test('expires when nobody paid for a day, and is credited all the same when the money arrives', async () => {
    const customer = await Customer.open(till);
    const topup = await customer.topup();
    await customer.pay(topup, 'slow');
    const unpaid = await customer.topup();
    await till.service.advance(86_401);
    expect(await customer.check(unpaid)).toMatchObject({
      status: 'expired',
      failure_code: 'expired',
      checkout_url: null,
    });
    expect(await customer.check(topup)).toMatchObject({ status: 'succeeded' });
    expect(await customer.told()).toEqual(['topup.failed', 'topup.succeeded']);
  });

  test('charges in a currency at a rate that is frozen, rounded up, and credits exactly the dollars', async () => {
    const customer = await Customer.open(till);
    const eur = await customer.paid({ amount_usd: 5.01, currency: 'EUR' });
    expect(eur).toMatchObject({ currency: 'EUR', charge_amount: 4.52, fx_rate: 0.901, amount_usd: 5.01 });
    const jpy = await customer.paid({ amount: 5.01, currency: 'JPY' });
    expect(jpy).toMatchObject({ charge_amount: 755, fx_rate: 150.5, status: 'succeeded' });
    expect((await customer.balance()).balance_usd).toBe(10.02);
  });

  test.each([
    [{ amount_usd: 4.99 }, 'amount_usd'],
    [{ amount_usd: 10_000.01 }, 'amount_usd'],
    [{ amount_usd: 5.001 }, 'amount_usd'],
    [{ amount: 0 }, 'amount'],
    [{ amount: 10, amount_usd: 11 }, 'amount'],
    [{ currency: 'usd' }, 'currency'],
    [{ currency: 'GBP' }, 'currency'],
    [{ return_url: 'http://example.org/' }, 'return_url'],
    [{ return_url: 'javascript:alert(1)' }, 'return_url'],
    [{ return_url: 'https://user@example.org/' }, 'return_url'],
    [{ return_url: '/local' }, 'return_url'],
  ])('with %j is refused, and names the field', async (input, param) => {
    const customer = await Customer.open(till);
    const { status, body } = await customer.call('POST', '/v1/account/topup', input);
    expect([status, body.error.param]).toEqual([400, param]);
    expect(body.error.code).toBe(param === 'currency' ? 'UNSUPPORTED_CURRENCY' : 'VALIDATION_FAILED');
  });

  test('is one for an idempotency key, and the twenty-first that nobody paid is refused', async () => {
    const customer = await Customer.open(till);
    const keyed = { amount_usd: 7, idempotency_key: 'once' };
    const first = await customer.topup(keyed);
    expect(await customer.topup(keyed)).toEqual(first);
    for (let i = 1; i < 20; i += 1) await customer.topup();
    const { status, body } = await customer.call('POST', '/v1/account/topup', {});
    expect([status, body.error.code]).toEqual([409, 'QUOTA_EXCEEDED']);
    await customer.pay(first);
    await customer.check(first);
    await customer.topup();
    const listed = await customer.call('GET', '/v1/account/topup/list?limit=100');
    expect(listed.body.data.items).toHaveLength(21);
    const done = await customer.call('GET', '/v1/account/topup/list?status=succeeded');
    expect(done.body.data.items).toEqual([await customer.show(first)]);
  });

  test('of another account is not found', async () => {
    const [owner, other] = [await Customer.open(till), await Customer.open(till)];
    const topup = await owner.topup();
    const { status, body } = await other.call('GET', `/v1/account/topup/get/${topup.topup_id}`);
    expect([status, body.error.code]).toEqual([404, 'TOPUP_NOT_FOUND']);
  });
});

describe('under review', () => {
  const review = async (input: object, card: 'pays' | 'reviewed') => {
    const customer = await Customer.open(till);
    const topup = await customer.paid(input, card);
    return { customer, topup, id: [customer.account.accountId, topup.topup_id] as const };
  };

  test('a large one waits for the operator, who approves it: credited once', async () => {
    const { customer, topup, id } = await review({ amount_usd: 500.01 }, 'pays');
    expect(topup).toMatchObject({ status: 'review', review_reason: 'amount' });
    await approveTopup(till.service.core, ...id);
    await expect(approveTopup(till.service.core, ...id)).rejects.toMatchObject({ code: 'STATE_CONFLICT' });
    expect(await customer.check(topup)).toMatchObject({ status: 'succeeded', review_reason: null });
    expect((await customer.balance()).balance_usd).toBe(500.01);
    expect(await customer.told()).toEqual(['topup.review_started', 'topup.succeeded']);
    await customer.expectSound();
  });

  test('one that the operator rejects has failed, and stays so although it is paid', async () => {
    const { customer, topup, id } = await review({}, 'reviewed');
    expect(topup).toMatchObject({ status: 'review', review_reason: 'provider' });
    await rejectTopup(till.service.core, ...id);
    expect(await customer.check(topup)).toMatchObject({ status: 'failed', failure_code: 'rejected' });
    expect((await customer.balance()).balance_usd).toBe(0);
    expect(await customer.told()).toEqual(['topup.review_started', 'topup.failed']);
  });

  test('a payment of another amount than ours is looked at before it is credited', async () => {
    const customer = await Customer.open(till);
    const topup = await customer.topup();
    const text = 'UPDATE core.sandbox_payment SET amount_minor = 999 WHERE id = $1';
    await till.service.core.db.query({ name: 'test_sandbox_amount', text }, [topup.topup_id]);
    await customer.pay(topup);
    expect(await customer.check(topup)).toMatchObject({ status: 'review', review_reason: 'mismatch' });
    expect((await customer.balance()).balance_usd).toBe(0);
  });
});

test('an account without a verified e-mail address does not top up, and everything else of it works', async () => {
  const { core } = till.service;
  const account = await createTestAccount(core);
  const text = 'UPDATE core.account SET email_bound = false WHERE account_id = $1';
  await core.db.query({ name: 'test_unbind', text }, [account.accountId]);
  const customer = new Customer(till, account);
  const { status, body } = await customer.call('POST', '/v1/account/topup', {});
  expect([status, body.error.code]).toEqual([403, 'EMAIL_BINDING_REQUIRED']);
  expect((await customer.call('GET', '/v1/account/topup/list')).body.data.items).toEqual([]);
});

test('above a year’s bound the owner must be verified: told once, from then on refused, until the operator says he is', async () => {
  const strict = await startTestService({
    database: till.service.database,
    env: { ROLES: 'web,render', KYC_ABOVE_USD: '30' },
  });
  try {
    const customer = await Customer.open({ ...till, service: strict });
    const refused = async () => {
      const { status, body } = await customer.call('POST', '/v1/account/topup', { amount_usd: 10.01 });
      return [status, body.error?.code];
    };
    await customer.paid({ amount_usd: 10 });
    await customer.topup({ amount_usd: 10 });
    expect([await refused(), await refused()]).toEqual([
      [403, 'KYC_REQUIRED'],
      [403, 'KYC_REQUIRED'],
    ]);
    const told = (await allEvents(customer.call)).filter(({ type }) => type === 'kyc.status_changed');
    expect(told.map(({ data }) => [data.object.kyc_status, data.previous.kyc_status])).toEqual([['required', 'none']]);
    const { accountId } = customer.account;
    await strict.core.db.transaction((tx) => setKycStatus(tx, accountId, 'verified'));
    expect((await refused())[0]).toBe(200);
  } finally {
    await strict.stop();
  }
});

test('what somebody says of a payment has it read at once; without a word the schedule does', async () => {
  const worker = await startTestService({ database: till.service.database, env: { ROLES: 'work,render' } });
  try {
    const customer = await Customer.open(till);
    const [told, silent] = [await customer.topup(), await customer.topup()];
    const credited = (topup: { topup_id: string }) =>
      vi.waitFor(async () => expect((await customer.show(topup)).status).toBe('succeeded'), { timeout: 50_000 });
    await Promise.all([customer.pay(told), customer.pay(silent)]);
    expect(await lookAgain(till.service.core.db, 'nobody knows')).toBeNull();
    expect(await lookAgain(till.service.core.db, told.topup_id)).toMatchObject({ kind: 'topup', id: told.topup_id });
    await credited(told);
    expect((await customer.show(silent)).status).toBe('pending');
    await till.service.advance(61);
    await credited(silent);
    await customer.expectSound();
  } finally {
    await worker.stop();
  }
});

test('test credit ends with the first start that takes real money: what is free at once, what is held with its hold', async () => {
  const { core } = till.service;
  const customer = await Customer.open(till, 3);
  await customer.paid({ amount_usd: 10 });
  const principal = (await core.keys.find(customer.account.secret)) as Principal;
  // The oldest credit first: all of what is real, and 2 of what is not.
  const outcome = await core.holds.authorize(laneCall({ ...customer.account, principal }, { amount: 5n * 10n ** 9n }));
  if (outcome.kind !== 'held') throw new Error(outcome.kind);
  const live = { STRIPE_SECRET_KEY: 'sk_live_of_nobody', STRIPE_API_BASE: 'http://127.0.0.1:9' };
  const started = await startTestService({ database: till.service.database, env: { ROLES: 'web,render', ...live } });
  await started.stop();
  expect(await customer.balance()).toMatchObject({ balance_usd: 0, test_usd: 0, held_usd: 5 });
  await core.holds.release(customer.account.accountId, outcome.hold.holdId);
  await core.db.transaction((tx) => expireGrants(tx, customer.account.accountId));
  expect(await customer.balance()).toMatchObject({ balance_usd: 3, test_usd: 0, held_usd: 0 });
  const told = (await allEvents(customer.call)).filter(({ type }) => type === 'wallet.expired');
  expect(told.map(({ data }) => [data.object.amount_usd, data.object.reason])).toEqual([
    [2, 'test_credit_ended'],
    [8, 'test_credit_ended'],
  ]);
  expect(told.flatMap(eventFaults)).toEqual([]);
  expect(await endTestCredit(core.db)).toBe(0);
  await customer.expectSound();
});

test('without a provider nobody tops up, and everything else works', async () => {
  const off = await startTestService({ database: till.service.database, env: { PAYMENT_PROVIDER: 'off' } });
  try {
    const customer = await Customer.open({ ...till, service: off });
    const { status, body } = await customer.call('POST', '/v1/account/topup', {});
    expect([status, body.error.code, body.error.code_detail]).toEqual([503, 'SERVICE_UNAVAILABLE', 'payments_off']);
    expect((await customer.balance()).balance_usd).toBe(0);
    const { account } = await Customer.open(till);
    const begun = await new Customer(till, account).topup();
    await till.service.advance(86_401);
    const left = { accountId: account.accountId, id: begun.topup_id, attempt: -1 };
    expect(await checkTopup(off.core, left)).toMatchObject({ status: 'expired' });
  } finally {
    await off.stop();
  }
});
