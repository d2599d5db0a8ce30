// Rules and defaults of queue settings.

import { randomInt } from 'node:crypto';
import type { Queryable } from '../../../db/database.ts';
import { sequenceAt } from '../../../lib/sequence.ts';
import { invalidField, problem as sharedProblem } from '../../../problems/problem.ts';
import { problem } from '../problems.ts';
import type { QueueRow } from './records.ts';
import { findQueue, findQueueById, isQueueIdTaken, type QueueSettings } from './store.ts';

const DAY_SECONDS = 86_400;
const KIB = 1024;
const DEFAULTS = {
  retention_seconds: 14 * DAY_SECONDS,
  max_message_bytes: 256 * KIB,
  visibility_timeout_default: 300,
  delivery_delay_seconds: 0,
  enable_priority: false,
  max_receive_count: 3,
  sqs_settings: null,
} as const;

type DlqField = 'dead_letter_queue' | 'dlq_name';

export interface SettingsInput {
  readonly dead_letter_queue?: string | null;
  /** The name that it was sent by. */
  readonly dlqField?: DlqField;
  readonly max_retries?: number;
  readonly message_retention_days?: number;
  readonly max_message_size_kb?: number;
  readonly visibility_timeout_default?: number;
  readonly delivery_delay_seconds?: number;
  readonly enable_priority?: boolean;
}

/** What a client of SQS may set besides: retention and size to the second and the byte, and what only SQS has. */
export interface ExactSettingsInput extends SettingsInput {
  readonly retention_seconds?: number;
  readonly max_message_bytes?: number;
  readonly sqs_settings?: string | null;
}

/** The names that answers have for two settings; both names are taken. */
interface SentSettings extends SettingsInput {
  readonly dlq_name?: string | null;
  readonly max_receive_count?: number;
}

/** The settings by one name each. Throws INVALID_REQUEST for both names of one with different values. */
export function settingsSent<Sent extends SentSettings>(
  sent: Sent,
): Omit<Sent, 'dlq_name' | 'max_receive_count'> & SettingsInput {
  const { dlq_name, max_receive_count, ...rest } = sent;
  const { dead_letter_queue, max_retries } = sent;
  refuseTwoValues('dead_letter_queue', dead_letter_queue, 'dlq_name', dlq_name);
  refuseTwoValues('max_retries', max_retries, 'max_receive_count', max_receive_count);
  return {
    ...rest,
    ...(dead_letter_queue === undefined && dlq_name !== undefined
      ? { dead_letter_queue: dlq_name, dlqField: 'dlq_name' as const }
      : {}),
    ...(max_retries === undefined && max_receive_count !== undefined ? { max_retries: max_receive_count } : {}),
  };
}

function refuseTwoValues(name: string, value: unknown, other: string, otherValue: unknown): void {
  if (value === undefined || otherValue === undefined || value === otherValue) return;
  throw sharedProblem('INVALID_REQUEST', {
    param: other,
    message: `${name} and ${other} are two names of one setting and have different values: send one of them.`,
  });
}

export function settingsAtCreation(input: ExactSettingsInput, dlqId: bigint | null): QueueSettings {
  return changedSettings({ ...DEFAULTS, dlq_id: dlqId }, input, dlqId);
}

/** The settings with what `input` names changed. */
export function changedSettings(
  current: QueueSettings,
  input: ExactSettingsInput,
  dlqId: bigint | null,
): QueueSettings {
  const { message_retention_days: days, max_message_size_kb: size } = input;
  const seconds = days === undefined ? undefined : days * DAY_SECONDS;
  const bytes = size === undefined ? undefined : size * KIB;
  return {
    retention_seconds: input.retention_seconds ?? seconds ?? current.retention_seconds,
    max_message_bytes: input.max_message_bytes ?? bytes ?? current.max_message_bytes,
    visibility_timeout_default: input.visibility_timeout_default ?? current.visibility_timeout_default,
    delivery_delay_seconds: input.delivery_delay_seconds ?? current.delivery_delay_seconds,
    enable_priority: input.enable_priority ?? current.enable_priority,
    dlq_id: dlqId,
    max_receive_count: input.max_retries ?? current.max_receive_count,
    sqs_settings: input.sqs_settings === undefined ? current.sqs_settings : input.sqs_settings,
  };
}

export function refuseFifoPriority(type: string, enablePriority: boolean | undefined): void {
  if (type === 'fifo' && enablePriority === true)
    throw invalidField('enable_priority', 'not_for_fifo', 'A FIFO queue keeps its order: it has no priority.');
}

/**
 * The id of the named dead-letter queue; null when `dlqName` is null. It must exist, be of the same type, not be the queue itself,
 * and close no cycle. Throws QUEUE_NOT_FOUND, VALIDATION_FAILED. The caller holds the account, so nothing changes meanwhile.
 */
export async function deadLetterQueueId(
  tx: Queryable,
  accountId: string,
  queue: { name: string; type: string; queueId: bigint | null },
  dlqName: string | null,
  param: DlqField = 'dead_letter_queue',
): Promise<bigint | null> {
  if (dlqName === null) return null;
  if (dlqName === queue.name) throw invalidField(param, 'self', 'A queue cannot be its own dead-letter queue.');
  const dlq = await findQueue(tx, accountId, dlqName);
  if (dlq === null)
    throw problem('QUEUE_NOT_FOUND', { param, message: `The dead-letter queue ${dlqName} does not exist.` });
  if (dlq.type !== queue.type)
    throw invalidField(
      param,
      'type_mismatch',
      `The dead-letter queue is of type ${dlq.type}, the queue of type ${queue.type}.`,
    );
  for (let next: QueueRow | null = dlq; next?.dlq_id != null; next = await findQueueById(tx, accountId, next.dlq_id)) {
    if (next.dlq_id === queue.queueId) throw invalidField(param, 'cycle', 'The dead-letter queues would form a cycle.');
  }
  return dlq.queue_id;
}

const ID_DRAWS = 1 << 22;

/** A new id, unique in the account, whose lock the transaction holds. `draw`: a number below 2^22, which tells queues of one millisecond apart. */
export async function newQueueId(
  tx: Queryable,
  accountId: string,
  nowMs: number,
  draw = () => randomInt(ID_DRAWS),
): Promise<bigint> {
  for (;;) {
    const queueId = sequenceAt(nowMs) + BigInt(draw());
    if (!(await isQueueIdTaken(tx, accountId, queueId))) return queueId;
  }
}
