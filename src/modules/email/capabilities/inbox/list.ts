import { listOf } from '../../../../kit/resource.ts';
import { inboxes } from '../../inboxes/inboxes.ts';

export const listInboxes = listOf(inboxes, {
  path: '/v1/email/inbox/list',
  summary: 'Lists the inboxes of the account.',
  description: 'Inboxes page by page, the newest first.',
  keywords: ['my inboxes', 'receiving addresses'],
  examples: [{ title: 'The first ones', input: { limit: 10 } }],
});
