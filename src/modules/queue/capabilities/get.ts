import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { problem } from '../problems.ts';
import { queueRecord } from '../queues/records.ts';
import { findQueue } from '../queues/store.ts';
import { queueName, queueSchema } from '../schemas.ts';
import type { QueueState } from '../state.ts';

export const get = defineCapability<QueueState>()({
  method: 'GET',
  path: '/v1/queue/get/{queue}',
  summary: 'Shows the settings of a queue.',
  description: 'The settings of one queue. For its message counts ask stats.',
  keywords: ['queue settings', 'queue attributes', 'describe queue'],
  input: Type.Object({ queue: queueName('Name of the queue.') }),
  output: queueSchema,
  errors: ['QUEUE_NOT_FOUND'],
  examples: [
    {
      title: 'One queue',
      before: [{ capability: 'queue.create', input: { name: 'jobs' } }],
      input: { queue: 'jobs' },
      expect: { name: 'jobs' },
    },
  ],
  async run({ ctx, input }) {
    const queue = await findQueue(ctx.core.db, ctx.accountId, input.queue);
    if (queue === null) throw problem('QUEUE_NOT_FOUND', { param: 'queue' });
    return { data: queueRecord(queue) };
  },
});
