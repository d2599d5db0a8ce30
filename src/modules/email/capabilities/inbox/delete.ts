import { deleteOf } from '../../../../kit/resource.ts';
import { inboxes } from '../../inboxes/inboxes.ts';
import { removeInbox } from '../../inboxes/remove.ts';

export const deleteInbox = deleteOf(
  { ...inboxes, remove: removeInbox },
  {
    path: '/v1/email/inbox/delete/{inbox_id}',
    summary: 'Deletes an inbox with all mail in it.',
    description:
      'Mail for its address is refused from now on. The address is free for anyone who has verified its domain.',
    keywords: ['remove inbox', 'stop receiving mail'],
    examples: [
      {
        title: 'One',
        before: [{ capability: 'email.inbox.create', input: { address: 'short-lived@inbox.test' } }],
        input: { inbox_id: '$0.inbox_id' },
        expect: { deleted: true },
      },
    ],
  },
);
