import Type from 'typebox';
import { runLongWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { purgeMessages } from '../queues/purge.ts';
import { catchUpChunk } from '../queues/stats.ts';
import { holdQueue } from '../queues/store.ts';
import { queueName } from '../schemas.ts';
import type { QueueState } from '../state.ts';

export const purge = defineCapability<QueueState>()({
  method: 'POST',
  path: '/v1/queue/purge/{queue}',
  summary: 'Removes all messages of a queue.',
  description:
    'Removes available, delayed and in-flight messages and answers their exact number; receipts given out for them do nothing any more. ' +
    'Messages in its dead-letter queue stay. A missing queue is no error: found is false.',
  keywords: ['empty queue', 'clear queue', 'flush all messages', 'drop all jobs'],
  input: Type.Object({ queue: queueName('Name of the queue; a `queue` in the body must be the same.') }),
  output: Type.Object({
    queue: Type.String({ description: 'The name sent.' }),
    purged: Type.Optional(
      Type.Integer({ description: 'How many messages were removed; absent when there is no such queue.' }),
    ),
    found: Type.Boolean({ description: 'Whether there is such a queue.' }),
  }),
  destructive: true,
  examples: [
    {
      title: 'Empty a queue',
      before: [
        { capability: 'queue.create', input: { name: 'scratch' } },
        { capability: 'queue.publish', input: { queue: 'scratch', payload: { n: 1 } } },
      ],
      input: { queue: 'scratch' },
      expect: { purged: 1, found: true },
    },
    { title: 'Nothing there', input: { queue: 'never-made' }, expect: { found: false } },
  ],
  async run({ ctx, input, state }) {
    return runLongWrite(ctx, async (tx) => {
      const queue = await holdQueue(tx, ctx.accountId, input.queue);
      if (queue === null) return { queue: input.queue, found: false };
      // What time has taken away already is not purged.
      while (await catchUpChunk(tx, state.ids, ctx.accountId, queue.queue_id));
      return { queue: input.queue, purged: await purgeMessages(tx, queue), found: true };
    });
  },
});
