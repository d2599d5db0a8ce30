import { getOf } from '../../../../../kit/resource.ts';
import { receivers } from '../../../receivers/store.ts';

export const receiveGet = getOf(receivers, {
  path: '/v1/account/webhooks/receive/get/{receiver_id}',
  summary: 'Shows a webhook receiver.',
  description: 'Its address, its target and its state: last_error says why the last request could not be published.',
  keywords: ['webhook receiver details', 'why does my receiver fail', 'address of a receiver'],
  examples: [
    {
      title: 'One receiver',
      before: [
        {
          capability: 'account.webhooks.receive.create',
          input: { name: 'our repository', verify: { scheme: 'github' }, to: { queue: 'github' } },
        },
      ],
      input: { receiver_id: '$0.receiver_id' },
      expect: { state: 'active', last_error: null, last_received_at: null },
    },
  ],
});
