// Stripe's messages: only signed ones are taken, and none is believed: each has the payment read, at once, however often it comes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestService } from '../support/service.ts';
import { Customer, openStripeTill, type StripeTill } from './harness.ts';

let till: StripeTill;
beforeAll(async () => {
  // Here what is due runs.
  till = await openStripeTill({ ROLES: 'web,work,render' });
});
afterAll(() => till?.close());

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
async function paid(customer: Customer, card: 'pays' | 'slow' = 'pays'): Promise<any> {
  const topup = await customer.topup();
  await customer.pay(topup, card);
  return topup;
}

function eventOf({ topup_id }: { topup_id: string }, type = 'checkout.session.completed') {
  const found = till.double.account.events.findLast(
    (event) => event.type === type && JSON.stringify(event).includes(topup_id),
  );
  if (found === undefined) throw new Error(`Stripe told no ${type}`);
  return found;
}

test('a message has the payment read at once: it is credited, and told, once, however often the message comes', async () => {
  const customer = await Customer.open(till);
  const topup = await paid(customer);
  const event = eventOf(topup);
  const answers = await Promise.all(Array.from({ length: 5 }, () => till.send(event)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  await expect.poll(() => customer.show(topup)).toMatchObject({ status: 'succeeded' });
  expect((await till.send(event)).status).toBe(200);
  expect(await customer.balance()).toMatchObject({ balance_usd: 10, test_usd: 10 });
  expect(await customer.told()).toEqual(['topup.succeeded']);
  await customer.expectSound();
});

test('a message that lies about the payment changes nothing: what Stripe has counts', async () => {
  const customer = await Customer.open(till);
  const topup = await customer.topup();
  await customer.pay(topup, 'declines');
  const { id, data, ...rest } = eventOf(topup, 'payment_intent.payment_failed');
  const object = { ...data.object, status: 'succeeded', amount_received: 1_000 } as typeof data.object;
  const lie = { id, ...rest, type: 'payment_intent.succeeded', data: { object } };
  expect((await till.send(lie)).status).toBe(200);
  await expect.poll(() => customer.show(topup)).toMatchObject({ failure_code: 'card_declined' });
  expect(await customer.show(topup)).toMatchObject({ status: 'pending', credited_at: null });
});

test('a dispute and a refund at the dashboard are told by their payment alone', async () => {
  const customer = await Customer.open(till);
  const topup = await paid(customer);
  await till.send(eventOf(topup));
  await expect.poll(() => customer.show(topup)).toMatchObject({ status: 'succeeded' });
  const paymentRef = await customer.paymentRef(topup);
  await till.bench.refundElsewhere(paymentRef, 300);
  await till.send(till.double.account.events.at(-1) as never);
  await expect.poll(() => customer.show(topup)).toMatchObject({ refunded_usd: 3 });
  const disputeRef = await till.bench.dispute(paymentRef, 700);
  await till.send(till.double.account.events.at(-1) as never);
  await expect.poll(() => customer.balance()).toMatchObject({ frozen_reason: 'dispute', balance_usd: 0 });
  await till.bench.closeDispute(disputeRef, 'won');
  await till.send(till.double.account.events.at(-1) as never);
  await expect.poll(() => customer.balance()).toMatchObject({ frozen_reason: null, balance_usd: 7 });
  await customer.expectSound();
});

test('without any message the payment is found by the checks', async () => {
  const customer = await Customer.open(till);
  const topup = await paid(customer, 'slow');
  await till.bench.advance(61);
  await expect.poll(() => customer.show(topup)).toMatchObject({ status: 'succeeded' });
});

describe('is refused with 400', () => {
  test.each([
    ['a message without a signature', { 'stripe-signature': '' }, undefined],
    [
      'one with a wrong signature',
      { 'stripe-signature': `t=${Math.floor(Date.now() / 1_000)},v1=${'0'.repeat(64)}` },
      undefined,
    ],
    ['one whose body was changed', {}, '{"id":"evt_1","data":{"object":{"id":"cs_1"}}}'],
    [
      'one of ten minutes ago',
      { 'stripe-signature': `t=${Math.floor(Date.now() / 1_000) - 600},v1=${'0'.repeat(64)}` },
      undefined,
    ],
    ['no message at all', {}, ''],
  ])('%s', async (_, headers, body) => {
    const topup = await paid(await Customer.open(till));
    const over = body === undefined ? { headers } : { headers, body };
    const answer = await till.send(eventOf(topup), over as never);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      ok: false,
      error: { code: 'INVALID_REQUEST', code_detail: 'signature' },
    });
  });
});

test('a signed message about an object of somebody else is done with', async () => {
  const event = {
    id: 'evt_1',
    object: 'event',
    type: 'payout.paid',
    created: 1,
    data: { object: { id: 'po_1', object: 'payout' } },
  };
  expect((await till.send(event as never)).status).toBe(200);
  expect((await till.send({ ...event, data: { object: { object: 'balance' } } } as never)).status).toBe(200);
});

test.each([
  ['without data', { id: 'evt_1', object: 'event' }],
  ['with data that is null', { id: 'evt_1', object: 'event', data: null }],
  ['with an object that is null', { id: 'evt_1', object: 'event', data: { object: null } }],
  ['with an object that is a number', { id: 'evt_1', object: 'event', data: { object: 7 } }],
  ['with metadata that are a text', { id: 'evt_1', data: { object: { id: 'cs_1', metadata: 'x' } } }],
  ['with a parent that is a list', { id: 'evt_1', data: { object: { id: 'cs_1', parent: [null] } } }],
  ['with details that are a number', { id: 'evt_1', data: { object: { parent: { subscription_details: 7 } } } }],
  ['with an id that holds NUL', { id: 'evt_1', data: { object: { id: 'cs_\u0000' } } }],
  ['that is null', null],
  ['that is a list', []],
  ['that is a text', 'evt_1'],
])('a signed message %s is answered 200 and reads nothing', async (_, event) => {
  expect((await till.send(event as never)).status).toBe(200);
});

test('a body longer than any message is not read', async () => {
  const topup = await paid(await Customer.open(till));
  expect((await till.send(eventOf(topup), { body: 'x'.repeat(300_000) })).status).toBe(413);
});

test('where Stripe takes no payments nothing is there', async () => {
  // own service: moves its clock
  const service = await startTestService();
  try {
    expect((await fetch(`${service.url}/webhooks/stripe`, { method: 'POST', body: '{}' })).status).toBe(404);
  } finally {
    await service.stop();
  }
});
