import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { whole } from '../../../kit/fields.ts';
import { queueName } from '../schemas.ts';
import { type QueueState, queueKey } from '../state.ts';

export const stats = defineCapability<QueueState>()({
  method: 'GET',
  path: '/v1/queue/stats/{queue}',
  summary: 'Counts the messages of a queue.',
  description:
    'Exact at the moment of the answer. A message whose lease has ended, or that waits behind the blocked head of a FIFO group, counts as available.',
  keywords: [
    'queue depth',
    'queue length',
    'backlog size',
    'how many messages are waiting',
    'consumer lag',
    'how long is a queue',
  ],
  input: Type.Object({ queue: queueName('Name of the queue.') }),
  output: Type.Object({
    queue: Type.String({ description: 'Name of the queue.' }),
    message_count: whole('Available and in flight, without delayed messages: delayed_count counts those.'),
    available_count: whole('Ready to be delivered.'),
    in_flight_count: whole('Delivered, and neither acknowledged, given back nor timed out.'),
    delayed_count: whole('To be delivered in the future: published or nacked with a delay.'),
    dlq_count: whole('Messages of this queue that are now in its dead-letter queue.'),
    oldest_message_age_seconds: whole(
      'Age of the oldest message, available, delayed or in flight; 0 when there is none.',
    ),
  }),
  errors: ['QUEUE_NOT_FOUND'],
  examples: [
    {
      title: 'One message waits',
      before: [
        { capability: 'queue.create', input: { name: 'counted' } },
        { capability: 'queue.publish', input: { queue: 'counted', payload: { n: 1 } } },
      ],
      input: { queue: 'counted' },
      expect: { message_count: 1, available_count: 1, in_flight_count: 0, delayed_count: 0 },
    },
  ],
  async run({ ctx, input, state }) {
    return { data: await state.counting.add(queueKey(ctx.accountId, input.queue), null) };
  },
});
