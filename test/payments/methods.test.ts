// Payment methods, with the sandbox: how they come, what uses them, how they go.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findPayment } from '../../src/payments/sandbox/store.ts';
import { leaveCard } from '../support/leave-card.ts';
import { Customer, openTill, type Till } from './harness.ts';

let till: Till;
beforeAll(async () => {
  till = await openTill();
});
afterAll(() => till?.close());

async function attach(customer: Customer, card = 'pays') {
  const { status, body } = await customer.call('POST', '/v1/account/payment_method/attach', {});
  expect(status, JSON.stringify(body)).toBe(200);
  await leaveCard(body.data.checkout_url, card);
  return body.data;
}
const listed = async (customer: Customer) =>
  (await customer.call('GET', '/v1/account/payment_method/list')).body.data.items;
const remove = (customer: Customer, id: string) => customer.call('DELETE', `/v1/account/payment_method/delete/${id}`);
const configure = (customer: Customer, input: object = {}) =>
  customer.call('PUT', '/v1/account/autorecharge/configure', { trigger_balance: 5, recharge_amount: 25, ...input });

describe('a payment method', () => {
  test('is there once a person has left it; the first is the default, and no more of a card is shown', async () => {
    const customer = await Customer.open(till);
    const begun = await attach(customer);
    expect(begun).toMatchObject({ setup_id: expect.stringMatching(/^setup_/), expires_at: expect.any(String) });
    await attach(customer, 'slow');
    const [first, second] = await listed(customer);
    expect(first).toEqual({
      payment_method_id: expect.stringMatching(/^pm_/),
      type: 'card',
      brand: 'test',
      last4: '0001',
      exp_month: 12,
      exp_year: 2099,
      is_default: true,
      test_mode: true,
      created_at: expect.any(String),
    });
    expect(second).toMatchObject({ last4: '0005', is_default: false });
  });

  test('is kept by a top-up that asks for it, once it is paid, and by no other', async () => {
    const customer = await Customer.open(till);
    await customer.paid({});
    expect(await listed(customer)).toEqual([]);
    const topup = await customer.paid({ save_payment_method: true });
    await customer.check(topup);
    expect(await listed(customer)).toEqual([expect.objectContaining({ last4: '0001', is_default: true })]);
  });

  test('becomes the default, the only one', async () => {
    const customer = await Customer.open(till);
    await attach(customer);
    await attach(customer);
    const [, second] = await listed(customer);
    const set = await customer.call('POST', '/v1/account/payment_method/set_default', second);
    expect([set.status, set.body.error?.code]).toEqual([400, 'VALIDATION_FAILED']);
    const { payment_method_id } = second;
    const { body } = await customer.call('POST', '/v1/account/payment_method/set_default', { payment_method_id });
    expect(body.data).toEqual({ ...second, is_default: true });
    expect((await listed(customer)).map((one: { is_default: boolean }) => one.is_default)).toEqual([false, true]);
  });

  test('that auto-recharge uses is not deleted, as the default neither; then it is, at the provider too', async () => {
    const customer = await Customer.open(till, 100);
    await attach(customer);
    await attach(customer);
    const [first, second] = await listed(customer);
    expect((await configure(customer)).status).toBe(200);
    const refused = await remove(customer, first.payment_method_id);
    expect([refused.status, refused.body.error.code, refused.body.error.code_detail]).toEqual([
      409,
      'STATE_CONFLICT',
      'in_use',
    ]);
    expect((await configure(customer, { payment_method_id: second.payment_method_id })).status).toBe(200);
    expect((await remove(customer, second.payment_method_id)).status).toBe(409);
    expect((await remove(customer, first.payment_method_id)).body.data).toEqual({
      payment_method_id: first.payment_method_id,
      deleted: true,
    });
    expect(await listed(customer)).toEqual([{ ...second, is_default: true }]);
    await configure(customer, { enabled: false });
    expect((await remove(customer, second.payment_method_id)).status).toBe(200);
    expect((await remove(customer, second.payment_method_id)).body.error.code).toBe('PAYMENT_METHOD_NOT_FOUND');
    const text = 'SELECT detached FROM core.sandbox_method WHERE account_id = $1';
    const { rows } = await till.service.core.db.query({ name: 'test_detached', text }, [customer.account.accountId]);
    expect(rows).toEqual([{ detached: true }, { detached: true }]);
  });

  test('of another account is not found', async () => {
    const [owner, other] = [await Customer.open(till), await Customer.open(till)];
    await attach(owner);
    const [{ payment_method_id }] = await listed(owner);
    for (const { status, body } of [
      await remove(other, payment_method_id),
      await other.call('POST', '/v1/account/payment_method/set_default', { payment_method_id }),
      await configure(other, { payment_method_id }),
    ])
      expect([status, body.error.code]).toEqual([404, 'PAYMENT_METHOD_NOT_FOUND']);
  });

  test('the twenty-first is refused, pages that nobody used included, until those end', async () => {
    const customer = await Customer.open(till);
    await attach(customer);
    const begin = () => customer.call('POST', '/v1/account/payment_method/attach', {});
    for (let i = 0; i < 19; i += 1) expect((await begin()).status).toBe(200);
    const { status, body } = await begin();
    expect([status, body.error.code]).toEqual([409, 'QUOTA_EXCEEDED']);
    await till.service.advance(86_401);
    expect((await begin()).status).toBe(200);
  });
});

test('the payer, and nobody else, goes on to the page of the caller, with the id and what became of it', async () => {
  const customer = await Customer.open(till);
  const { body } = await customer.call('POST', '/v1/account/payment_method/attach', {
    return_url: 'https://example.org/kept?of=1',
  });
  const returning = async (query: string) => {
    const address = `${till.service.url}/pay/return/${body.data.setup_id}${query}`;
    const answer = await fetch(address, { redirect: 'manual' });
    return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() };
  };
  const key = new URL(await returnUrlOf(body.data.setup_id)).search;
  const back = async () => (await returning(key)).location;
  const address = (status: string) => `https://example.org/kept?of=1&setup_id=${body.data.setup_id}&status=${status}`;
  expect(await back()).toBe(address('pending'));
  await till.bench.pay(body.data.checkout_url, 'pays');
  expect(await back()).toBe(address('succeeded'));
  const other = await returnUrlOf(
    (await customer.call('POST', '/v1/account/payment_method/attach', {})).body.data.setup_id,
  );
  for (const query of ['', '?key=', `${key}x`, new URL(other).search]) {
    const { status, location, text } = await returning(query);
    expect([status, location, text.includes('example.org')]).toEqual([200, null, false]);
    expect(text).toContain('Thank you');
  }
  await till.service.advance(86_401);
  const late = await returning(key);
  expect([late.status, late.location]).toEqual([200, null]);
  expect(late.text).toContain('Continue to example.org');
});

/** What the provider was given. */
async function returnUrlOf(id: string): Promise<string> {
  return (await findPayment(till.service.core.db, { id }))?.return_url ?? '';
}

test('without a method auto-recharge cannot be enabled, and it says so', async () => {
  const customer = await Customer.open(till);
  const { status, body } = await configure(customer);
  expect([status, body.error.code]).toEqual([402, 'PAYMENT_METHOD_REQUIRED']);
  expect((await customer.call('GET', '/v1/account/autorecharge/get')).body.data).toMatchObject({
    enabled: false,
    trigger_balance: null,
    next_attempt_at: null,
    charge_limit_usd: 500,
  });
});
