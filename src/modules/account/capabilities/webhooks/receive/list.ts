import { listOf } from '../../../../../kit/resource.ts';
import { receivers } from '../../../receivers/store.ts';

export const receiveList = listOf(receivers, {
  path: '/v1/account/webhooks/receive/list',
  summary: 'Lists the webhook receivers of the account.',
  description: 'Receivers with their addresses and states, newest first, page by page. Secrets are never shown.',
  keywords: ['webhook receivers', 'incoming webhooks', 'addresses that receive webhooks'],
  examples: [{ title: 'The newest receivers', input: { limit: 10 }, expect: { has_more: false } }],
});
