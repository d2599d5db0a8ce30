import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import { subscriptionRecord } from '../../../../payments/subscriptions/record.ts';
import { currentSubscription } from '../../../../payments/subscriptions/store.ts';
import { subscriptionSchema } from './schemas.ts';

export const subscriptionGet = defineCapability()({
  method: 'GET',
  path: '/v1/account/subscription/get',
  summary: 'Shows the subscription of the account.',
  description:
    'The one that runs or waits to be paid, else the last that ended; status `none` when there never was one. A page that nobody paid ' +
    'at is none. account.tier.upgrade begins one.',
  keywords: ['current plan', 'subscription status', 'next renewal'],
  input: Type.Object({}),
  output: subscriptionSchema,
  examples: [{ title: 'An account without one', input: {}, expect: { status: 'none', subscription_id: null } }],
  async run({ ctx }) {
    return { data: subscriptionRecord(await currentSubscription(ctx.core.db, ctx.accountId)) };
  },
});
