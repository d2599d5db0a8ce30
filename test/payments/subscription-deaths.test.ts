// A process dies before, in and after every single step that a subscription takes; another one finds what it left. The account pays one
// subscription, its tier is that of the subscription at all times, and everything is told once.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { statement } from '../../src/db/statement.ts';
import { cancelSubscription } from '../../src/payments/subscriptions/change.ts';
import { checkSubscription } from '../../src/payments/subscriptions/check.ts';
import { openSubscription } from '../../src/payments/subscriptions/open.ts';
import { entering } from '../support/enter.ts';
import { openTill, type Till } from './harness.ts';
import { dyingEverywhere } from './mortal.ts';
import { Subscriber } from './subscriber.ts';

let till: Till;
beforeAll(async () => {
  till = await openTill();
});
afterAll(() => till?.close());

const order = {
  label: 'pro',
  tier: 'pro',
  priceNanos: 20n * 10n ** 9n,
  returnUrl: null,
  fallbackTier: 'standard',
} as const;
const BEGUN = ['subscription.activated', 'tier.upgraded'];
const countRows = statement(
  'test_subscription_count',
  `SELECT (SELECT count(*)::int FROM core.subscription s WHERE s.account_id = $1) AS ours,
          (SELECT count(*)::int FROM core.sandbox_payment p WHERE p.account_id = $1) AS pages`,
);

async function expectTierOfSubscription(subscriber: Subscriber): Promise<void> {
  const { status } = await subscriber.get();
  expect([status, await subscriber.tier()]).toEqual([status, status === 'active' ? 'pro' : 'standard']);
}

test('opening its page: however often it is begun again there is one', async () => {
  const subscriber = await Subscriber.open(till);
  const { accountId } = subscriber.customer.account;
  const deaths = await dyingEverywhere(till.service.core, (core) =>
    openSubscription(core, accountId, entering(accountId), order),
  );
  expect(deaths).toBeGreaterThan(8);
  const page = await subscriber.upgrade();
  const { rows } = await (till.service.core.db as Database).query(countRows, [accountId]);
  expect(rows).toEqual([{ ours: 1, pages: 1 }]);
  await till.bench.pay(page.checkout_url, 'pays');
  expect(await subscriber.check()).toMatchObject({ status: 'active' });
});

test('reading it: activated, renewed and ended once, each with its tier', async () => {
  const subscriber = await Subscriber.open(till);
  const { accountId } = subscriber.customer.account;
  const { db } = till.service.core;
  const page = await subscriber.upgrade();
  const { subscription_id: id } = await subscriber.get();
  const readInDeaths = async () => {
    const deaths = await dyingEverywhere(till.service.core, async (core) => {
      await expectTierOfSubscription(subscriber);
      await checkSubscription(core, accountId, id);
    });
    expect(deaths).toBeGreaterThan(8);
    await expectTierOfSubscription(subscriber);
  };
  await till.bench.pay(page.checkout_url, 'pays');
  await readInDeaths();
  expect(await subscriber.told()).toEqual(BEGUN);
  const { current_period_end: end } = await subscriber.get();
  await till.bench.advance(Math.ceil((Date.parse(end) - (await till.bench.nowMs())) / 1_000) + 1);
  await readInDeaths();
  expect(await subscriber.told()).toEqual([...BEGUN, 'subscription.renewed']);
  await db.transaction((tx) => cancelSubscription(tx, accountId, false));
  await readInDeaths();
  expect(await subscriber.told()).toEqual([
    ...BEGUN,
    'subscription.renewed',
    'subscription.cancelled',
    'tier.downgraded',
  ]);
  // The provider knows: nothing is due any more.
  expect(await dyingEverywhere(till.service.core, (core) => checkSubscription(core, accountId, id))).toBeLessThan(8);
});
