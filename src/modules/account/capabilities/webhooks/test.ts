import Type from 'typebox';
import { runOutside } from '../../../../core/idempotency/outside.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { memberSources } from '../../../../lib/json-source.ts';
import { JsonText } from '../../../../lib/json-text.ts';
import { deliveryRecord } from '../../../../webhooks/deliveries/record.ts';
import { deliverTest } from '../../../../webhooks/deliveries/test-delivery.ts';
import { problem } from '../../problems.ts';
import { deliverySchema, webhookIdField } from '../../webhook-schemas.ts';

export const webhooksTest = defineCapability()({
  method: 'POST',
  path: '/v1/account/webhooks/test/{webhook_id}',
  summary: 'Sends a test event and says how it went.',
  description:
    'One attempt, made before the answer: an event of the first type that the webhook subscribes to, with test true and the JSON object ' +
    'of the body, whatever it holds, as data.object. It is signed as every delivery is and is not tried again. A disabled webhook can be ' +
    'tested as well. The call succeeds when the attempt was made; status, http_status and error_code tell how.',
  keywords: ['send test event', 'ping webhook', 'try webhook endpoint', 'try out a webhook'],
  input: Type.Object({ webhook_id: webhookIdField }, { additionalProperties: true }),
  output: deliverySchema,
  errors: ['WEBHOOK_NOT_FOUND'],
  limits: {
    content:
      'Any JSON object; an idempotency_key in it is taken as such. Beyond 20 KiB long texts are cut, and the event says truncated.',
  },
  examples: [
    {
      title: 'Send a sample',
      before: [
        {
          capability: 'account.webhooks.register',
          input: { url: 'https://example.org/hooks', events: ['queue.dlq'] },
        },
      ],
      input: { webhook_id: '$0.webhook_id', message_id: 'qmsg_sample', queue: 'jobs' },
      expect: { event_type: 'queue.dlq', attempt: 1 },
    },
  ],
  async run({ ctx, input }) {
    const { accountId, requestId } = ctx;
    return runOutside(ctx, async (enter) => {
      const delivery = await deliverTest(
        ctx.core,
        { accountId, requestId, enter },
        input.webhook_id,
        sample(ctx.inputText),
      );
      if (delivery === null) throw problem('WEBHOOK_NOT_FOUND', { param: 'webhook_id' });
      return deliveryRecord(delivery);
    });
  },
});

/** The body as it was sent, without the idempotency key, which is the service's. */
function sample(inputText: string): JsonText {
  if (inputText === '') return new JsonText('{}');
  const members = [...memberSources(inputText)].filter(([name]) => name !== 'idempotency_key');
  const texts = members.map(([name, { start, end }]) => `${JSON.stringify(name)}:${inputText.slice(start, end)}`);
  return new JsonText(`{${texts.join(',')}}`);
}
