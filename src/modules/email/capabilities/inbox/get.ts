import { getOf } from '../../../../kit/resource.ts';
import { inboxes } from '../../inboxes/inboxes.ts';

export const getInbox = getOf(inboxes, {
  path: '/v1/email/inbox/get/{inbox_id}',
  summary: 'Shows an inbox.',
  description: 'Its address, its queue, and how many mails it holds.',
  keywords: ['inbox details', 'count mails in an inbox'],
  examples: [
    {
      title: 'One',
      before: [{ capability: 'email.inbox.create', input: { address: 'shown@inbox.test' } }],
      input: { inbox_id: '$0.inbox_id' },
      expect: { message_count: 0 },
    },
  ],
});
