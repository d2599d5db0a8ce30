import Type from 'typebox';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { problem } from '../../../../problems/problem.ts';
import { deliveryRecord, isPaused } from '../../../../webhooks/deliveries/record.ts';
import { readDelivery, redeliver, sendNow } from '../../../../webhooks/deliveries/store.ts';
import { findRegistration } from '../../../../webhooks/registrations/store.ts';
import { deliveryIdField, deliverySchema } from '../../webhook-schemas.ts';

export const webhooksRedeliver = defineCapability()({
  method: 'POST',
  path: '/v1/account/webhooks/redeliver/{delivery_id}',
  summary: 'Delivers an event once more.',
  description:
    'Makes a new delivery of the same event to the same webhook, as it is registered now, with all its retries. A delivery that waits for its ' +
    'next attempt is sent now instead, and answered as it is. The receiver sees the same webhook-id. Events are kept for 30 days. ' +
    'A disabled webhook must be enabled first (409).',
  keywords: ['resend webhook event', 'retry delivery', 'replay event', 'send a webhook again'],
  input: Type.Object({ delivery_id: deliveryIdField }),
  output: deliverySchema,
  errors: ['NOT_FOUND', 'STATE_CONFLICT'],
  examples: [
    {
      title: 'Send a delivery again',
      before: [
        {
          capability: 'account.webhooks.register',
          input: { url: 'https://example.org/hooks', events: ['queue.dlq'] },
        },
        { capability: 'account.webhooks.test', input: { webhook_id: '$0.webhook_id' } },
      ],
      input: { delivery_id: '$1.delivery_id' },
      expect: { event_type: 'queue.dlq', status: 'pending' },
    },
  ],
  async run({ ctx, input: { delivery_id: deliveryId } }) {
    return runWrite(ctx, async (tx, { nowMs }) => {
      const earlier = await readDelivery(tx, ctx.accountId, deliveryId);
      if (earlier === null) throw unknownDelivery();
      const webhook = await findRegistration(tx, ctx.core.secrets, ctx.accountId, earlier.webhook_id);
      if (webhook?.status === 'disabled') {
        const message = 'The webhook is disabled; enable it with account.webhooks.update first.';
        throw problem('STATE_CONFLICT', { message, detail: 'webhook_disabled', param: 'delivery_id' });
      }
      const made = isPaused(earlier)
        ? await sendNow(tx, ctx.accountId, earlier, nowMs)
        : await redeliver(tx, ctx.accountId, deliveryId, nowMs);
      if (made === null) throw unknownDelivery();
      return deliveryRecord(made);
    });
  },
});

function unknownDelivery() {
  return problem('NOT_FOUND', {
    message: 'The delivery does not exist, or its webhook was deleted.',
    param: 'delivery_id',
  });
}
