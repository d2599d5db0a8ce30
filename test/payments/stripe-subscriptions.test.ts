// Subscriptions at Stripe, through the unchanged package: what its messages are about is read, and what it is there is what it is here.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStripeTill, type StripeTill } from './harness.ts';
import { Subscriber } from './subscriber.ts';

let till: StripeTill;
beforeAll(async () => {
  till = await openStripeTill();
});
afterAll(() => till?.close());

const BEGUN = ['subscription.activated', 'tier.upgraded'];
const ENDED = ['subscription.cancelled', 'tier.downgraded'];

/** Every message so far, each twice, the newest first. */
async function sendAll(): Promise<void> {
  const events = [...till.double.account.events].reverse();
  for (const event of events) expect((await till.send(event)).status).toBe(200);
  for (const event of events) expect((await till.send(event)).status).toBe(200);
}

test('months are paid, each told once, whatever messages come twice and in the wrong order', async () => {
  const subscriber = await Subscriber.open(till);
  expect(await subscriber.subscribed()).toMatchObject({ status: 'active', price_usd: 20 });
  const { items } = await subscriber.ok('GET', 'payment_method/list');
  expect(items).toMatchObject([{ brand: 'visa', is_default: true }]);
  await sendAll();
  await subscriber.check();
  for (let month = 0; month < 3; month += 1) {
    expect(await subscriber.passPeriod()).toMatchObject({ status: 'active', last_invoice: { status: 'paid' } });
    await sendAll();
    await subscriber.check();
  }
  expect(await subscriber.told()).toEqual([...BEGUN, ...Array(3).fill('subscription.renewed')]);
  expect(await subscriber.tier()).toBe('pro');
});

test('one that is to end with its month ends there, and one that is resumed does not', async () => {
  const subscriber = await Subscriber.open(till);
  await subscriber.subscribed();
  await subscriber.ok('POST', 'subscription/cancel', {});
  expect(await subscriber.check()).toMatchObject({ status: 'active', cancel_at_period_end: true });
  await subscriber.ok('POST', 'subscription/resume', {});
  await subscriber.check();
  expect(await subscriber.passPeriod()).toMatchObject({ status: 'active' });
  await subscriber.ok('POST', 'subscription/cancel', {});
  await subscriber.check();
  expect(await subscriber.passPeriod()).toMatchObject({ status: 'cancelled' });
  expect(await subscriber.told()).toEqual([...BEGUN, 'subscription.renewed', ...ENDED]);
});

test('a renewal that fails is past due and keeps the tier, until it is paid by hand', async () => {
  const subscriber = await Subscriber.open(till);
  await subscriber.subscribed('declines_later');
  const owed = await subscriber.passPeriod();
  expect(owed).toMatchObject({ status: 'past_due', last_invoice: { status: 'failed' } });
  expect(await subscriber.tier()).toBe('pro');
  await till.bench.payInvoice(owed.pay_url);
  await sendAll();
  expect(await subscriber.check()).toMatchObject({ status: 'active', pay_url: null });
  expect(await subscriber.told()).toEqual([...BEGUN, 'subscription.renewed']);
});

test('one that is cancelled at once is cancelled at Stripe, once, though the answer is lost', async () => {
  const subscriber = await Subscriber.open(till);
  await subscriber.subscribed();
  await subscriber.ok('POST', 'subscription/cancel', { at_period_end: false });
  till.double.faults.push({ at: /DELETE .*subscriptions/, how: 'reset', when: 'after' });
  await subscriber.check();
  expect(till.double.faults).toEqual([]);
  expect(await subscriber.atProvider()).toMatchObject({ status: 'cancelled' });
  expect(await subscriber.told()).toEqual([...BEGUN, ...ENDED]);
});

test('a page whose making got no answer is one page, and its link is answered', async () => {
  const subscriber = await Subscriber.open(till);
  const before = till.double.account.all('checkout.session', () => true).length;
  till.double.faults.push({ at: /POST .*sessions$/, how: 'reset', when: 'after' });
  const page = await subscriber.upgrade();
  expect(till.double.account.all('checkout.session', () => true)).toHaveLength(before + 1);
  await till.bench.pay(page.checkout_url, 'pays');
  expect(await subscriber.check()).toMatchObject({ status: 'active' });
});
