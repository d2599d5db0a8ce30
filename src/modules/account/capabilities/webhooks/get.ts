import { getOf } from '../../../../kit/resource.ts';
import { webhooks } from '../../webhook-resource.ts';

export const webhooksGet = getOf(webhooks, {
  path: '/v1/account/webhooks/get/{webhook_id}',
  summary: 'Shows a webhook.',
  description:
    'The registration with its status: disabled_reason and disabled_at say why and when deliveries stopped. The secret is not shown.',
  keywords: ['webhook details', 'webhook status', 'why was my webhook disabled'],
  examples: [
    {
      title: 'Read a registration',
      before: [
        {
          capability: 'account.webhooks.register',
          input: { url: 'https://example.org/hooks', events: ['queue.dlq'] },
        },
      ],
      input: { webhook_id: '$0.webhook_id' },
      expect: { url: 'https://example.org/hooks', status: 'enabled', disabled_at: null },
    },
  ],
});
