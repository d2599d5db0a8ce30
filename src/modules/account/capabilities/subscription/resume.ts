import Type from 'typebox';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { resumeSubscription } from '../../../../payments/subscriptions/change.ts';
import { subscriptionRecord } from '../../../../payments/subscriptions/record.ts';
import { subscriptionSchema } from './schemas.ts';

export const subscriptionResume = defineCapability()({
  method: 'POST',
  path: '/v1/account/subscription/resume',
  summary: 'Takes back a cancellation at the end of the period.',
  description:
    'The subscription is renewed again. One that is not to end, or none, is answered as it is. One that has ended is STATE_CONFLICT: it begins ' +
    'anew by account.tier.upgrade.',
  keywords: ['undo cancellation', 'keep subscription', 'reactivate plan'],
  input: Type.Object({}),
  output: subscriptionSchema,
  errors: ['STATE_CONFLICT'],
  examples: [{ title: 'An account without one', input: {}, expect: { status: 'none' } }],
  run({ ctx }) {
    return runWrite(ctx, async (tx) => {
      return subscriptionRecord(await resumeSubscription(tx, ctx.accountId));
    });
  },
});
