// Creating a queue, whoever asks for it.
import { lockCaller } from '../../../core/accounts/accounts.ts';
import type { CallContext } from '../../../core/context.ts';
import type { Queryable } from '../../../db/database.ts';
import { queueLimits } from '../limits.ts';
import { problem } from '../problems.ts';
import type { QueueRow } from './records.ts';
import {
  deadLetterQueueId,
  type ExactSettingsInput,
  newQueueId,
  refuseFifoPriority,
  settingsAtCreation,
} from './settings.ts';
import { addQueue, findQueue, type QueueSettings, queueCount } from './store.ts';

export interface CreateQueueInput extends ExactSettingsInput {
  readonly name: string;
  readonly type: 'standard' | 'fifo';
  /** As a client of SQS spelled it; null: made natively. */
  readonly sqsName: string | null;
}

/**
 * The new queue, or the one that is there already: `refuseOther` throws when that is not what was asked for, with the settings that a new
 * one would have. Throws ALREADY_EXISTS, QUOTA_EXCEEDED, QUEUE_NOT_FOUND, VALIDATION_FAILED.
 */
export async function createQueue(
  tx: Queryable,
  ctx: CallContext,
  input: CreateQueueInput,
  refuseOther: (existing: QueueRow, settings: QueueSettings) => void,
): Promise<QueueRow> {
  const { accountId, tier } = ctx;
  const { name, type } = input;
  const nowMs = await lockCaller(tx, accountId);
  refuseFifoPriority(type, input.enable_priority);
  const existing = await findQueue(tx, accountId, name);
  const target = { name, type, queueId: existing?.queue_id ?? null };
  const dlqId = await deadLetterQueueId(tx, accountId, target, input.dead_letter_queue ?? null);
  const settings = settingsAtCreation(input, dlqId);
  if (existing !== null) {
    refuseOther(existing, settings);
    return existing;
  }
  if ((await queueCount(tx, accountId)) >= queueLimits.queues[tier]) {
    throw problem('QUOTA_EXCEEDED', { message: `The account has its ${queueLimits.queues[tier]} queues.` });
  }
  const queueId = await newQueueId(tx, accountId, nowMs);
  await addQueue(tx, { ...settings, accountId, name, queueId, type, sqsName: input.sqsName, nowMs });
  return (await findQueue(tx, accountId, name)) as QueueRow;
}
