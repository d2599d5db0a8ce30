import { getOf } from '../../../kit/resource.ts';
import { messages } from './messages.ts';

export const get = getOf(messages, {
  path: '/v1/sms/get/{sms_id}',
  description: 'One message, sent or received, with its status. Messages are kept for 30 days.',
  keywords: ['sms delivery status', 'was my text message delivered'],
  examples: [
    {
      title: 'What became of it',
      before: [{ capability: 'sms.send', input: { to: '+12025550124', text: 'Your order has shipped.' } }],
      input: { sms_id: '$0.sms_id' },
      expect: { segments: 1 },
    },
  ],
});
