import { deleteOf } from '../../../../kit/resource.ts';
import { removeWebhook } from '../../webhook-changes.ts';
import { webhooks } from '../../webhook-resource.ts';

export const webhooksDelete = deleteOf(
  { ...webhooks, remove: (tx, { accountId }, id, nowMs) => removeWebhook(tx, accountId, id, nowMs) },
  {
    path: '/v1/account/webhooks/delete/{webhook_id}',
    description:
      'No further delivery begins; what was pending is cancelled. Its deliveries stay listed for their 30 days. A missing webhook is no ' +
      'error: deleted is false.',
    keywords: ['remove webhook', 'unsubscribe from events'],
    examples: [
      {
        title: 'Delete',
        before: [
          {
            capability: 'account.webhooks.register',
            input: { url: 'https://example.org/hooks', events: ['queue.dlq'] },
          },
        ],
        input: { webhook_id: '$0.webhook_id' },
        expect: { deleted: true, status: null },
      },
      {
        title: 'Nothing there',
        input: { webhook_id: 'wh_0000000000000000000000' },
        expect: { deleted: false, status: 'not_found' },
      },
    ],
  },
);
