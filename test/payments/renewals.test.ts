// What is not as it should be with the payments of a subscription: one that failed and is paid by hand, one of another amount than the
// price, one that goes back.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lookAgain } from '../../src/payments/look-again.ts';
import { listMails } from '../../src/people/mail/mail.ts';
import { openTill, type Till } from './harness.ts';
import { DAY, Subscriber } from './subscriber.ts';

let till: Till;
beforeAll(async () => {
  till = await openTill();
});
afterAll(() => till?.close());

const BEGUN = ['subscription.activated', 'tier.upgraded'];
const ENDED = ['subscription.cancelled', 'tier.downgraded'];

async function mailsTo(subscriber: Subscriber) {
  const { accountId } = subscriber.customer.account;
  const mails = await listMails(till.service.core.db, { limit: 100 });
  return mails.filter(({ text }) => text.includes(accountId));
}

test('a renewal that failed is paid by hand, by the link of the mail and of the call; no event has the link', async () => {
  const subscriber = await Subscriber.open(till);
  await subscriber.subscribed('declines_later');
  const owed = await subscriber.passPeriod();
  expect(owed).toMatchObject({ status: 'past_due', pay_url: expect.stringContaining(`${till.service.url}/pay/`) });
  expect((await mailsTo(subscriber))[0]?.text).toContain(owed.pay_url);
  expect(await (await fetch(owed.pay_url)).text()).toContain('Pay 20.00 USD');
  await till.bench.payInvoice(owed.pay_url);
  const back = await fetch(`${till.service.url}/pay/return/${owed.subscription_id}`);
  expect(await back.text()).toContain('Thank you');
  expect(await subscriber.get()).toMatchObject({ status: 'active', pay_url: null, last_invoice: { status: 'paid' } });
  expect(await subscriber.told()).toEqual([...BEGUN, 'subscription.renewed']);
  for (const { data } of await subscriber.events()) expect(data.object).not.toHaveProperty('pay_url');
});

describe('another amount than the price', () => {
  test('begins nothing, and what the provider cancels then is none', async () => {
    const subscriber = await Subscriber.open(till);
    const { checkout_url } = await subscriber.upgrade();
    await till.bench.pay(checkout_url, 'pays');
    const ref = await newestAtSandbox();
    await till.bench.reprice(ref, 1_999);
    const seen = { status: 'pending', last_invoice: { status: 'review', amount_usd: 19.99 } };
    expect(await subscriber.check()).toMatchObject(seen);
    expect([await subscriber.tier(), await subscriber.told()]).toEqual(['standard', []]);
    await till.bench.provider.cancelSubscription({ id: 'chg_1', subscriptionRef: ref, atPeriodEnd: false });
    expect(await subscriber.check()).toMatchObject({ status: 'none' });
    expect(await subscriber.told()).toEqual([]);
  });

  test('renews nothing: the tier stays for 7 days, in which the right one renews it', async () => {
    const [left, righted] = [await Subscriber.open(till), await Subscriber.open(till)];
    const refs = [];
    for (const each of [left, righted]) {
      await each.subscribed();
      refs.push(await newestAtSandbox());
    }
    await Promise.all(refs.map((ref) => till.bench.reprice(ref as string, 2_001)));
    await left.passPeriod();
    for (const each of [left, righted]) {
      expect(await each.check()).toMatchObject({
        status: 'past_due',
        last_invoice: { status: 'review' },
        pay_url: null,
      });
      expect([await each.tier(), await each.told()]).toEqual(['pro', BEGUN]);
      expect(await mailsTo(each)).toMatchObject([{ subject: 'The payment for tier pro is being examined' }]);
    }
    await till.bench.reprice(refs[1] as string, 2_000);
    expect(await righted.check()).toMatchObject({ status: 'active', last_invoice: { status: 'paid', amount_usd: 20 } });
    await till.bench.advance(7 * DAY + 60);
    expect(await left.check()).toMatchObject({ status: 'cancelled' });
    expect([await left.told(), await righted.told()]).toEqual([
      [...BEGUN, ...ENDED],
      [...BEGUN, 'subscription.renewed'],
    ]);
  });
});

test('what is refunded or disputed of a renewal is shown and freezes nothing; a dispute that is lost ends it', async () => {
  const subscriber = await Subscriber.open(till);
  await subscriber.subscribed();
  await subscriber.passPeriod();
  const paymentRef = (await subscriber.atProvider()).lastInvoice?.paymentRef as string;
  const { accountId } = subscriber.customer.account;
  expect(await lookAgain(till.service.core.db, paymentRef)).toMatchObject({ accountId, kind: 'subscription' });
  await till.bench.refundElsewhere(paymentRef, 500);
  const dispute = await till.bench.dispute(paymentRef, 1_500);
  expect(await subscriber.check()).toMatchObject({
    status: 'active',
    last_invoice: { status: 'paid', amount_usd: 20, refunded_usd: 5, dispute: 'open' },
  });
  expect(await subscriber.customer.balance()).toMatchObject({ frozen_reason: null, debt_usd: 0 });
  await till.bench.closeDispute(dispute, 'lost');
  expect(await subscriber.check()).toMatchObject({ status: 'cancelled', last_invoice: { dispute: 'lost' } });
  expect(await subscriber.told()).toEqual([...BEGUN, 'subscription.renewed', ...ENDED]);
  expect((await subscriber.events()).at(-2)?.data.object).toMatchObject({ reason: 'payment_failed' });
  await subscriber.check();
  expect(await subscriber.atProvider()).toMatchObject({ status: 'cancelled' });
});

async function newestAtSandbox(): Promise<string> {
  const text = 'SELECT ref FROM core.sandbox_subscription ORDER BY created_at DESC, ref DESC LIMIT 1';
  const { rows } = await till.service.core.db.query<{ ref: string }>({ name: 'test_newest_subscription', text }, []);
  return rows[0]?.ref as string;
}
