import Type from 'typebox';
import { lockCaller } from '../../../core/accounts/accounts.ts';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../manifest/capability.ts';
import { allowMoreDeliveries, isStricter, retireExhausted } from '../dead-letter/exhaust.ts';
import { problem } from '../problems.ts';
import { type QueueRow, queueRecord } from '../queues/records.ts';
import { changedSettings, deadLetterQueueId, refuseFifoPriority } from '../queues/settings.ts';
import { catchUpQueue } from '../queues/stats.ts';
import { findQueue, saveQueue } from '../queues/store.ts';
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
  async run({ ctx, input, state }) {
    const { db } = ctx.core;
    const before = await findQueue(db, ctx.accountId, input.queue);
    // What time has decided was decided under the old settings.
    if (before !== null) await catchUpQueue(db, state.ids, before);
    let stricter: bigint | null = null;
    const answer = await runWrite(ctx, async (tx) => {
      stricter = null;
      const nowMs = await lockCaller(tx, ctx.accountId);
      const current = await findQueue(tx, ctx.accountId, input.queue);
      if (current === null) throw problem('QUEUE_NOT_FOUND', { param: 'queue' });
      refuseFifoPriority(current.type, input.enable_priority);
      const target = { name: current.name, type: current.type, queueId: current.queue_id };
      const dlqId =
        input.dead_letter_queue === undefined
          ? current.dlq_id
          : await deadLetterQueueId(tx, ctx.accountId, target, input.dead_letter_queue);
      const settings = changedSettings(current, input, dlqId);
      await saveQueue(tx, current, settings, nowMs);
      await allowMoreDeliveries(tx, current, settings);
      if (isStricter(current, settings)) stricter = current.queue_id;
      return queueRecord((await findQueue(tx, ctx.accountId, current.name)) as QueueRow);
    });
    if (stricter !== null) await retireExhausted(db, state.ids, stricter, ctx.accountId);
    return answer;
  },
});
