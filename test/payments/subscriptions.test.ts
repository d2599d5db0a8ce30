// Subscriptions from the call to the tier and back, with the sandbox: months that pass by the clock of the database, every way to end.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Tier } from '../../src/core/callers/tiers.ts';
import { lookAgain } from '../../src/payments/look-again.ts';
import { giveTier } from '../../src/payments/subscriptions/change.ts';
import { listMails } from '../../src/people/mail/mail.ts';
import { startTestService } from '../support/service.ts';
import { openTill, type Till } from './harness.ts';
import { DAY, Subscriber } from './subscriber.ts';

let till: Till;
beforeAll(async () => {
  till = await openTill({ TIER_PRICES: '{"pro": 19.9}' });
});
afterAll(() => till?.close());

const BEGUN = ['subscription.activated', 'tier.upgraded'];
const ENDED = ['subscription.cancelled', 'tier.downgraded'];

describe('upgrading', () => {
  test('answers one page, which brings the tier once it is paid and not before', async () => {
    const subscriber = await Subscriber.open(till);
    expect(await subscriber.ok('GET', 'tier')).toMatchObject({
      tier: 'standard',
      usage: { keys: 1, webhooks: 0, queues: 0, cron_jobs: 0, collections: 0, image_jobs: 0, video_jobs: 0 },
      upgrade_options: [
        { target: 'pro', tier: 'pro', price_usd: 19.9, status: 'requires_payment' },
        { target: 'team', tier: 'pro', price_usd: 19.9, status: 'requires_payment' },
        { target: 'enterprise', tier: 'enterprise', price_usd: null, status: 'contact_sales' },
      ],
    });
    const page = await subscriber.upgrade('team');
    expect(page).toMatchObject({ target: 'team', tier_after: 'pro', status: 'requires_payment' });
    expect(await subscriber.upgrade('pro')).toEqual(page);
    expect(await subscriber.check()).toMatchObject({ status: 'pending', label: 'team', tier: 'pro', price_usd: 19.9 });
    expect(await subscriber.tier()).toBe('standard');
    await till.bench.pay(page.checkout_url, 'pays');
    expect(await subscriber.check()).toMatchObject({
      status: 'active',
      cancel_at_period_end: false,
      test_mode: true,
      last_invoice: { status: 'paid', amount_usd: 19.9, next_attempt_at: null },
    });
    expect(await subscriber.ok('GET', 'tier')).toMatchObject({ tier: 'pro', limits: { keys: 500 } });
    expect(await subscriber.upgrade('pro')).toMatchObject({ status: 'active', tier_after: 'pro', checkout_url: null });
    expect(await subscriber.upgrade('enterprise')).toMatchObject({ status: 'contact_sales', tier_after: 'enterprise' });
    expect(await subscriber.told()).toEqual(BEGUN);
  });

  test('by twenty calls at once is one page', async () => {
    const subscriber = await Subscriber.open(till);
    const pages = await Promise.all(Array.from({ length: 20 }, () => subscriber.upgrade()));
    expect(new Set(pages.map(({ checkout_url }) => checkout_url)).size).toBe(1);
  });

  test('begins anew when nobody paid within a day', async () => {
    const subscriber = await Subscriber.open(till);
    const first = await subscriber.upgrade();
    await till.bench.advance(DAY + 1);
    const second = await subscriber.upgrade();
    expect(second.checkout_url).not.toBe(first.checkout_url);
    await till.bench.advance(DAY + 1);
    expect(await subscriber.check()).toMatchObject({ status: 'none', subscription_id: null });
    expect(await subscriber.told()).toEqual([]);
  });

  test('with the slow card brings the tier when the money arrives', async () => {
    const subscriber = await Subscriber.open(till);
    expect(await subscriber.subscribed('slow')).toMatchObject({ status: 'pending' });
    await till.bench.advance(31);
    expect(await subscriber.check()).toMatchObject({ status: 'active' });
  });

  test.each([
    [{ target: 'standard' }, 'target'],
    [{}, 'target'],
    [{ target: 'pro', return_url: 'ftp://example.org' }, 'return_url'],
  ])('with %j is refused, and names the field', async (input, param) => {
    const subscriber = await Subscriber.open(till);
    const { status, body } = await subscriber.customer.call('POST', '/v1/account/tier/upgrade', input);
    expect([status, body.error.code, body.error.param]).toEqual([400, 'VALIDATION_FAILED', param]);
  });
});

describe('a month that passes', () => {
  test('renews it, three times, each told once', async () => {
    const subscriber = await Subscriber.open(till);
    const periods = [await subscriber.subscribed()];
    for (let month = 0; month < 3; month += 1) {
      periods.push(await subscriber.passPeriod());
      await subscriber.check();
    }
    periods.slice(1).forEach((period, i) => {
      expect(period).toMatchObject({ status: 'active', current_period_start: periods[i].current_period_end });
    });
    expect(await subscriber.told()).toEqual([...BEGUN, ...Array(3).fill('subscription.renewed')]);
    expect(await subscriber.tier()).toBe('pro');
  });

  test('with a card that is declined later leaves the tier for 7 days, then ends it', async () => {
    const subscriber = await Subscriber.open(till);
    await subscriber.subscribed('declines_later');
    expect(await subscriber.passPeriod()).toMatchObject({ status: 'past_due', last_invoice: { status: 'failed' } });
    await till.bench.advance(7 * DAY - 60);
    expect(await subscriber.check()).toMatchObject({ status: 'past_due' });
    expect(await subscriber.tier()).toBe('pro');
    await till.bench.advance(60);
    expect(await subscriber.check()).toMatchObject({ status: 'cancelled', last_invoice: { next_attempt_at: null } });
    expect(await subscriber.tier()).toBe('standard');
    expect(await subscriber.told()).toEqual([...BEGUN, ...ENDED]);
    expect((await subscriber.events())[2]?.data.object).toMatchObject({ reason: 'payment_failed' });
    await expectEndedAtProvider(subscriber);
  });

  test('unpaid is told by mail on the day, on the third and on the sixth', async () => {
    const subscriber = await Subscriber.open(till);
    await subscriber.subscribed('declines_later');
    const { core } = till.service;
    const mails = async () => {
      const { items } = (await subscriber.customer.call('GET', '/v1/account/payment_method/list')).body.data;
      expect(items).toHaveLength(1);
      return (await listMails(core.db, { limit: 100 })).filter(({ text }) =>
        text.includes(subscriber.customer.account.accountId),
      );
    };
    await subscriber.passPeriod();
    const sent = [(await mails()).length];
    for (let day = 1; day <= 7; day += 1) {
      await till.bench.advance(DAY);
      await subscriber.check();
      await subscriber.check();
      sent.push((await mails()).length);
    }
    expect(sent).toEqual([1, 1, 1, 2, 2, 2, 3, 3]);
    expect((await mails())[0]).toMatchObject({ subject: 'The payment for tier pro failed' });
    expect((await mails())[0]?.to).toMatch(/@example\.org$/);
  });
});

test('the card of a subscription that runs cannot be deleted; afterwards it can', async () => {
  const subscriber = await Subscriber.open(till);
  await subscriber.subscribed();
  const { items } = await subscriber.ok('GET', 'payment_method/list');
  expect(items).toMatchObject([{ last4: '0001', is_default: true }]);
  const remove = () =>
    subscriber.customer.call('DELETE', `/v1/account/payment_method/delete/${items[0].payment_method_id}`);
  const refused = await remove();
  expect([refused.status, refused.body.error?.code_detail]).toEqual([409, 'in_use']);
  await subscriber.ok('POST', 'subscription/cancel', { at_period_end: false });
  expect((await remove()).status).toBe(200);
});

describe('cancelling', () => {
  test('ends it with its month, and resuming takes that back', async () => {
    const subscriber = await Subscriber.open(till);
    await subscriber.subscribed();
    expect(await subscriber.ok('POST', 'subscription/cancel', {})).toMatchObject({ cancel_at_period_end: true });
    expect(await subscriber.ok('POST', 'subscription/cancel', {})).toMatchObject({ cancel_at_period_end: true });
    await subscriber.check();
    expect(await subscriber.ok('POST', 'subscription/resume', {})).toMatchObject({ cancel_at_period_end: false });
    await subscriber.check();
    expect(await subscriber.passPeriod()).toMatchObject({ status: 'active' });
    await subscriber.ok('POST', 'subscription/cancel', {});
    expect(await subscriber.check()).toMatchObject({ status: 'active', cancel_at_period_end: true });
    expect(await subscriber.tier()).toBe('pro');
    expect(await subscriber.passPeriod(0)).toMatchObject({ status: 'cancelled', cancel_at_period_end: false });
    expect(await subscriber.tier()).toBe('standard');
    expect(await subscriber.told()).toEqual([...BEGUN, 'subscription.renewed', ...ENDED]);
  });

  test('at once takes the tier at once, tells the provider, and another can be bought', async () => {
    const subscriber = await Subscriber.open(till);
    await subscriber.subscribed();
    const ended = await subscriber.ok('POST', 'subscription/cancel', { at_period_end: false });
    expect([ended.status, await subscriber.tier()]).toEqual(['cancelled', 'standard']);
    await expectEndedAtProvider(subscriber);
    expect(await subscriber.ok('POST', 'subscription/cancel', {})).toEqual(ended);
    const resumed = await subscriber.customer.call('POST', '/v1/account/subscription/resume', {});
    expect([resumed.status, resumed.body.error.code]).toEqual([409, 'STATE_CONFLICT']);
    expect(await subscriber.subscribed()).toMatchObject({ status: 'active' });
    expect(await subscriber.told()).toEqual([...BEGUN, ...ENDED, ...BEGUN]);
  });

  test('is refused while nobody has paid', async () => {
    const subscriber = await Subscriber.open(till);
    await subscriber.upgrade();
    const { status, body } = await subscriber.customer.call('POST', '/v1/account/subscription/cancel', {});
    expect([status, body.error.code]).toEqual([409, 'STATE_CONFLICT']);
  });
});

test('a downgrade deletes nothing, and what exceeds a limit cannot grow', async () => {
  const subscriber = await Subscriber.open(till);
  await subscriber.subscribed();
  const create = () => subscriber.customer.call('POST', '/v1/account/webhooks/register', hook);
  const hook = { url: 'https://example.org/hooks', events: ['wallet.expired'] };
  for (let i = 0; i < 21; i += 1) expect((await create()).status).toBe(200);
  await subscriber.ok('POST', 'subscription/cancel', { at_period_end: false });
  expect(await subscriber.ok('GET', 'tier')).toMatchObject({ limits: { webhooks: 20 }, usage: { webhooks: 21 } });
  const refused = await create();
  expect([refused.status, refused.body.error.code]).toEqual([409, 'QUOTA_EXCEEDED']);
});

describe('the operator', () => {
  const give = (subscriber: Subscriber, tier: Tier) =>
    till.service.core.db.transaction((tx) => giveTier(tx, subscriber.customer.account.accountId, tier));

  test('ends a subscription by giving a lesser tier', async () => {
    const subscriber = await Subscriber.open(till);
    await subscriber.subscribed();
    expect(await give(subscriber, 'standard')).toMatchObject({ tier: 'standard' });
    expect(await subscriber.get()).toMatchObject({ status: 'cancelled' });
    expect((await subscriber.events())[2]?.data.object).toMatchObject({ reason: 'operator' });
    await expectEndedAtProvider(subscriber);
  });

  test('gives more than is bought, and that stays when the subscription ends', async () => {
    const subscriber = await Subscriber.open(till);
    await subscriber.subscribed();
    await give(subscriber, 'enterprise');
    expect(await subscriber.passPeriod()).toMatchObject({ status: 'active' });
    await subscriber.ok('POST', 'subscription/cancel', { at_period_end: false });
    expect(await subscriber.tier()).toBe('enterprise');
    expect(await subscriber.told()).toEqual([
      ...BEGUN,
      'tier.upgraded',
      'subscription.renewed',
      'subscription.cancelled',
    ]);
  });
});

test('what somebody says of a subscription has it read at once; without a word the schedule does', async () => {
  const worker = await startTestService({ database: till.service.database, env: { ROLES: 'work,render' } });
  try {
    const [told, silent] = [await Subscriber.open(till), await Subscriber.open(till)];
    const [page, other] = [await told.upgrade(), await silent.upgrade()];
    const active = (subscriber: Subscriber) =>
      vi.waitFor(async () => expect(await subscriber.get()).toMatchObject({ status: 'active' }), { timeout: 50_000 });
    await Promise.all([till.bench.pay(page.checkout_url, 'pays'), till.bench.pay(other.checkout_url, 'pays')]);
    await lookAgain(till.service.core.db, (await told.get()).subscription_id);
    await active(told);
    expect(await silent.get()).toMatchObject({ status: 'pending' });
    await till.bench.advance(61);
    await active(silent);
    await till.bench.advance(32 * DAY);
    await vi.waitFor(async () => expect(await silent.told()).toContain('subscription.renewed'), { timeout: 50_000 });
  } finally {
    await worker.stop();
  }
});

/** Once the checks have told it. */
async function expectEndedAtProvider(subscriber: Subscriber): Promise<void> {
  await subscriber.check();
  expect(await subscriber.atProvider()).toMatchObject({ status: 'cancelled' });
}
