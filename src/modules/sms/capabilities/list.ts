import Type from 'typebox';
import { listOf } from '../../../kit/resource.ts';
import { numberField } from '../schemas.ts';
import { messages } from './messages.ts';

export const list = listOf(messages, {
  path: '/v1/sms/list',
  summary: 'Lists text messages, sent and received.',
  description: 'Messages of the last 30 days, newest first, page by page.',
  keywords: ['sms history', 'read incoming sms', 'list text messages'],
  examples: [{ title: 'What people wrote', input: { direction: 'inbound' }, expect: { has_more: false } }],
  filters: {
    status: Type.Optional(
      Type.Enum(['queued', 'sent', 'delivered', 'failed', 'received'], {
        description: 'Only messages in this status.',
      }),
    ),
    direction: Type.Optional(Type.Enum(['outbound', 'inbound'], { description: 'Only sent, or only received ones.' })),
    to_number: Type.Optional(numberField('Only messages to this number.')),
  },
});
