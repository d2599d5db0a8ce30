import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { problem } from '../../../problems/problem.ts';
import { SUBSCRIPTIONS_CHANGED } from '../push/dispatcher.ts';
import { removeSubscriptionsOf } from '../push/subscription-store.ts';
import { findQueue, removeQueue, sourcesOf } from '../queues/store.ts';
import { queueName } from '../schemas.ts';
import type { QueueState } from '../state.ts';

export const remove = defineCapability<QueueState>()({
  method: 'DELETE',
  path: '/v1/queue/delete/{queue}',
  summary: 'Deletes a queue and its messages.',
  description:
    'The queue, every message in it and its push subscriptions are gone at once. Messages of it that lie in a dead-letter queue stay there. ' +
    'A missing queue is no error: deleted is false. A queue that serves as a dead-letter queue cannot be deleted (409).',
  keywords: ['delete queue', 'drop queue', 'remove queue', 'get rid of a queue'],
  input: Type.Object({ queue: queueName('Name of the queue.') }),
  output: Type.Object({
    queue: Type.String({ description: 'The name sent.' }),
    deleted: Type.Boolean({ description: 'Whether there was such a queue.' }),
    status: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: '`not_found` when there was none, else null.',
    }),
  }),
  errors: ['STATE_CONFLICT'],
  examples: [
    {
      title: 'Delete',
      before: [{ capability: 'queue.create', input: { name: 'short-lived' } }],
      input: { queue: 'short-lived' },
      expect: { deleted: true },
    },
    { title: 'Nothing there', input: { queue: 'never-made' }, expect: { deleted: false, status: 'not_found' } },
  ],
  async run({ ctx, input }) {
    return runWrite(ctx, async (tx) => {
      // The lane of every process publishes under the account's lock too: no message is accepted into a queue that is going.
      const queue = await findQueue(tx, ctx.accountId, input.queue);
      if (queue === null) return { queue: input.queue, deleted: false, status: 'not_found' };
      const sources = await sourcesOf(tx, ctx.accountId, queue.queue_id);
      if (sources.length > 0)
        throw problem('STATE_CONFLICT', {
          param: 'queue',
          message: `It is the dead-letter queue of ${sources.join(', ')}.`,
          detail: 'dead_letter_queue_in_use',
        });
      await removeSubscriptionsOf(tx, ctx.accountId, queue.queue_id);
      tx.hint(SUBSCRIPTIONS_CHANGED);
      await removeQueue(tx, queue);
      return { queue: input.queue, deleted: true, status: null };
    });
  },
});
