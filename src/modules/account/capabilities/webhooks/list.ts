import { listOf } from '../../../../kit/resource.ts';
import { webhooks } from '../../webhook-resource.ts';

export const webhooksList = listOf(webhooks, {
  path: '/v1/account/webhooks/list',
  description:
    'Every registration, newest first, page by page. Secrets are never shown, and credentials in headers are masked.',
  keywords: ['show webhooks', 'webhook endpoints'],
  examples: [{ title: 'The newest webhooks', input: { limit: 10 }, expect: { has_more: false } }],
});
