import { deleteOf } from '../../../../../kit/resource.ts';
import { receivers } from '../../../receivers/store.ts';

export const receiveDelete = deleteOf(receivers, {
  path: '/v1/account/webhooks/receive/delete/{receiver_id}',
  summary: 'Deletes a webhook receiver.',
  description:
    'Its address answers 404 at once, and the list of its requests is gone. Messages stay. A missing receiver is no error: deleted is false.',
  keywords: ['remove webhook receiver', 'stop receiving webhooks'],
  examples: [
    {
      title: 'Not needed any more',
      before: [
        {
          capability: 'account.webhooks.receive.create',
          input: { name: 'our repository', verify: { scheme: 'github' }, to: { queue: 'github' } },
        },
      ],
      input: { receiver_id: '$0.receiver_id' },
      expect: { deleted: true },
    },
  ],
});
