import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import { registrationRecord } from '../../../../webhooks/registrations/record.ts';
import { requireWebhook } from '../../webhook-changes.ts';
import { webhookIdField, webhookSchema } from '../../webhook-schemas.ts';

export const webhooksGet = defineCapability()({
  method: 'GET',
  path: '/v1/account/webhooks/get/{id}',
  summary: 'Shows one webhook.',
  description:
    'The registration with its status: disabled_reason and disabled_at say why and when deliveries stopped. The secret is not shown.',
  keywords: ['webhook details', 'webhook status', 'why was my webhook disabled'],
  input: Type.Object({ id: webhookIdField }),
  output: webhookSchema,
  errors: ['WEBHOOK_NOT_FOUND'],
  examples: [
    {
      title: 'Read a registration',
      before: [
        {
          capability: 'account.webhooks.register',
          input: { url: 'https://example.org/hooks', events: ['queue.dlq'] },
        },
      ],
      input: { id: '$0.id' },
      expect: { url: 'https://example.org/hooks', status: 'enabled', disabled_at: null },
    },
  ],
  async run({ ctx, input }) {
    return { data: registrationRecord(await requireWebhook(ctx.core.db, ctx, input.id)) };
  },
});
