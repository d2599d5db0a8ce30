// Changes the settings of a queue, for native and SQS calls.

import { runWrite } from '../../../core/idempotency/write.ts';
import type { CallContext } from '../../../kit/services.ts';
import { allowMoreDeliveries, isStricter, retireExhausted } from '../dead-letter/exhaust.ts';
import { problem } from '../problems.ts';
import type { QueueState } from '../state.ts';
import { type QueueRow, queueRecord } from './records.ts';
import { changedSettings, deadLetterQueueId, type ExactSettingsInput, refuseFifoPriority } from './settings.ts';
import { catchUpQueue } from './stats.ts';
import { findQueue, saveQueue } from './store.ts';

/**
 * Changes what `changeOf` answers for the queue as it is, and answers its record. The account is locked meanwhile.
 * Throws QUEUE_NOT_FOUND, VALIDATION_FAILED, and what `changeOf` throws.
 */
export async function changeQueue(
  ctx: CallContext,
  state: QueueState,
  name: string,
  changeOf: (queue: QueueRow) => ExactSettingsInput,
): Promise<{ data: unknown; replayed: boolean }> {
  const { accountId } = ctx;
  const { db } = ctx.core;
  const before = await findQueue(db, accountId, name);
  // What time has decided was decided under the old settings.
  if (before !== null) await catchUpQueue(db, state.ids, before);
  let stricter: bigint | null = null;
  const answer = await runWrite(ctx, async (tx, { nowMs }) => {
    stricter = null;
    const current = await findQueue(tx, accountId, name);
    if (current === null) throw problem('QUEUE_NOT_FOUND', { param: 'queue' });
    const change = changeOf(current);
    refuseFifoPriority(current.type, change.enable_priority);
    const target = { name: current.name, type: current.type, queueId: current.queue_id };
    const dlqId =
      change.dead_letter_queue === undefined
        ? current.dlq_id
        : await deadLetterQueueId(tx, accountId, target, change.dead_letter_queue, change.dlqField);
    const settings = changedSettings(current, change, dlqId);
    await saveQueue(tx, current, settings, nowMs);
    await allowMoreDeliveries(tx, current, settings);
    if (isStricter(current, settings)) stricter = current.queue_id;
    return queueRecord((await findQueue(tx, accountId, current.name)) as QueueRow);
  });
  if (stricter !== null) await retireExhausted(db, state.ids, stricter, accountId);
  return answer;
}
