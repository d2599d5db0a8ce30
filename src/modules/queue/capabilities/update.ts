import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { changeQueue } from '../queues/change-queue.ts';
import { settingsSent } from '../queues/settings.ts';
import { queueName, queueSchema, settingsFields } from '../schemas.ts';
import type { QueueState } from '../state.ts';

export const update = defineCapability<QueueState>()({
  method: 'PATCH',
  path: '/v1/queue/update/{queue}',
  summary: 'Changes the settings of a queue.',
  description:
    'Changes the settings that are sent and leaves the rest. A dead-letter queue of null removes it. Retention and max deliveries apply at once, ' +
    'also to messages that are there; priority applies to messages published from now on. Name and type never change.',
  keywords: ['change queue settings', 'set visibility timeout', 'set retention', 'set queue attributes'],
  input: Type.Object({ queue: queueName('Name of the queue.'), ...settingsFields }),
  output: queueSchema,
  errors: ['QUEUE_NOT_FOUND'],
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
    const settings = settingsSent(change);
    return changeQueue(ctx, state, queue, () => settings);
  },
});
