// Creates a queue, for native and SQS calls.
import type { Tier } from '../../../core/callers/tiers.ts';
import type { Queryable } from '../../../db/database.ts';
import { requireRoom } from '../../../kit/resource.ts';
import { queueLimits } from '../limits.ts';
import type { QueueRow } from './records.ts';
import {
  deadLetterQueueId,
  type ExactSettingsInput,
  newQueueId,
  refuseFifoPriority,
  settingsAtCreation,
} from './settings.ts';
import { addQueue, findQueue, type QueueSettings } from './store.ts';

export interface CreateQueueInput extends ExactSettingsInput {
  readonly name: string;
  readonly type: 'standard' | 'fifo';
  /** As a client of SQS spelled it; null: made natively. */
  readonly sqsName: string | null;
}

/**
 * Under the account's lock: the new queue, or the one that is there already: `refuseOther` throws when that is not what was asked for, with the settings that a new
 * one would have. Throws ALREADY_EXISTS, QUOTA_EXCEEDED, QUEUE_NOT_FOUND, VALIDATION_FAILED.
 */
export async function createQueue(
  tx: Queryable,
  { accountId, tier, nowMs }: { readonly accountId: string; readonly tier: Tier; readonly nowMs: number },
  input: CreateQueueInput,
  refuseOther: (existing: QueueRow, settings: QueueSettings) => void,
): Promise<QueueRow> {
  const { name, type } = input;
  refuseFifoPriority(type, input.enable_priority);
  const existing = await findQueue(tx, accountId, name);
  const target = { name, type, queueId: existing?.queue_id ?? null };
  const dlqId = await deadLetterQueueId(tx, accountId, target, input.dead_letter_queue ?? null, input.dlqField);
  const settings = settingsAtCreation(input, dlqId);
  if (existing !== null) {
    refuseOther(existing, settings);
    return existing;
  }
  await requireRoom(tx, { accountId, tier }, 'queue', queueLimits.queues);
  const queueId = await newQueueId(tx, accountId, nowMs);
  await addQueue(tx, { ...settings, accountId, name, queueId, type, sqsName: input.sqsName, nowMs });
  return (await findQueue(tx, accountId, name)) as QueueRow;
}
