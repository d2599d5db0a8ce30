import { listOf } from '../../../../kit/resource.ts';
import { listRegistrations } from '../../../../webhooks/registrations/store.ts';
import { webhooks } from '../../webhook-resource.ts';
import { webhookSchema } from '../../webhook-schemas.ts';

export const webhooksList = listOf('webhook', {
  path: '/v1/account/webhooks/list',
  description:
    'Every registration, newest first, page by page. Secrets are never shown, and credentials in headers are masked.',
  keywords: ['show webhooks', 'webhook endpoints'],
  examples: [{ title: 'The newest webhooks', input: { limit: 10 }, expect: { has_more: false } }],
  list: (db, { core, accountId }, { after, limit }) => listRegistrations(db, core.secrets, accountId, after, limit),
  positionOf: ({ webhookId }) => webhookId,
  item: webhookSchema,
  show: webhooks.show,
});
