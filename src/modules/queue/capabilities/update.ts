import Type from 'typebox';
import { defineCapability } from '../../../manifest/capability.ts';
import { changeQueue } from '../queues/change-queue.ts';
import { queueName, queueSchema, settingsFields } from '../schemas.ts';
import type { QueueState } from '../state.ts';

export const update = defineCapability<QueueState>()({
  id: 'queue.update',
  method: 'PATCH',
  path: '/v1/queue/update/{queue}',
  summary: 'Changes the settings of a queue.',
  description:
    'Changes what is sent and leaves the rest; dead_letter_queue null removes it. Retention and max_retries count at once for messages that ' +
    'are there; priority is for messages published from now on. Name and type never change.',
  keywords: ['change queue settings', 'set visibility timeout', 'set retention', 'set queue attributes'],
  input: Type.Object({ queue: queueName('Name of the queue.'), ...settingsFields }),
  output: queueSchema,
  price: 'free',
  scope: 'write',
  idempotent: true,
  errors: ['QUEUE_NOT_FOUND'],
  events: [],
  examples: [
    {
      title: 'A longer lease',
      before: [{ capability: 'queue.create', input: { name: 'slow-jobs' } }],
      input: { queue: 'slow-jobs', visibility_timeout_default: 900 },
      expect: { visibility_timeout_default: 900 },
    },
  ],
  run({ ctx, input, state }) {
    const { queue, ...change } = input;
    return changeQueue(ctx, state, queue, () => change);
  },
});
