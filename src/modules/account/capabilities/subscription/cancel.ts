import Type from 'typebox';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { cancelSubscription } from '../../../../payments/subscriptions/change.ts';
import { subscriptionRecord } from '../../../../payments/subscriptions/record.ts';
import { subscriptionSchema } from './schemas.ts';

export const subscriptionCancel = defineCapability()({
  method: 'POST',
  path: '/v1/account/subscription/cancel',
  summary: 'Cancels the subscription of the account.',
  description:
    'With the end of the paid month, until when the tier stays and account.subscription.resume takes it back; or at once, which refunds ' +
    'nothing. The tier then is what it is without a subscription. Nothing is deleted: what exceeds its limits cannot grow. One that waits ' +
    'to be paid ends by itself with its link: STATE_CONFLICT. One that is over, or none, is answered as it is.',
  keywords: ['cancel plan', 'downgrade', 'end subscription', 'stop monthly payments'],
  input: Type.Object({
    at_period_end: Type.Optional(
      Type.Boolean({ default: true, description: 'Ends with the paid month; false: now, without a refund.' }),
    ),
  }),
  output: subscriptionSchema,
  destructive: true,
  errors: ['STATE_CONFLICT'],
  examples: [{ title: 'An account without one', input: { at_period_end: true }, expect: { status: 'none' } }],
  run({ ctx, input }) {
    return runWrite(ctx, async (tx) => {
      return subscriptionRecord(await cancelSubscription(tx, ctx.accountId, input.at_period_end ?? true));
    });
  },
});
