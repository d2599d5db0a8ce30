// SQS queue attributes: those that map to our settings, and those that only SQS has, which are stored as set.

import { queueArn, queueNameInArn } from '../../../core/credentials/aws-arns.ts';
import type { Services } from '../../../kit/services.ts';
import type { QueueRow } from '../queues/records.ts';
import type { ExactSettingsInput } from '../queues/settings.ts';
import type { QueueStats } from '../queues/stats.ts';
import type { QueueSettings } from '../queues/store.ts';
import { refusal } from './failures.ts';
import { shownName } from './names.ts';
import { type Fields, isFields } from './request.ts';

/** With the range of each: the setting that it is, or null. */
const NUMBERS = {
  VisibilityTimeout: ['visibility_timeout_default', 0, 43_200],
  MessageRetentionPeriod: ['retention_seconds', 60, 1_209_600],
  MaximumMessageSize: ['max_message_bytes', 1_024, 262_144],
  DelaySeconds: ['delivery_delay_seconds', 0, 900],
  ReceiveMessageWaitTimeSeconds: [null, 0, 20],
  KmsDataKeyReusePeriodSeconds: [null, 60, 86_400],
} as const;
/** Kept as they are set. Messages are as safe here with them as without. */
const KEPT: Readonly<Record<string, RegExp>> = {
  ContentBasedDeduplication: /^(true|false)$/,
  SqsManagedSseEnabled: /^(true|false)$/,
  KmsMasterKeyId: /^.{0,2048}$/s,
  // Deduplication by message group, and the throughput that comes with it, are not there.
  DeduplicationScope: /^queue$/,
  FifoThroughputLimit: /^perQueue$/,
};
const FIFO_ONLY: ReadonlySet<string> = new Set([
  'ContentBasedDeduplication',
  'DeduplicationScope',
  'FifoThroughputLimit',
]);
const READ_ONLY = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesDelayed',
  'ApproximateNumberOfMessagesNotVisible',
  'CreatedTimestamp',
  'LastModifiedTimestamp',
  'QueueArn',
];
const WRITTEN = [
  ...Object.keys(NUMBERS),
  ...Object.keys(KEPT),
  'FifoQueue',
  'Policy',
  'RedrivePolicy',
  'RedriveAllowPolicy',
];
const KNOWN: ReadonlySet<string> = new Set([...READ_ONLY, ...WRITTEN]);

/** What a queue made by SQS has that nobody has set. */
export const DEFAULTS: ExactSettingsInput = {
  visibility_timeout_default: 30,
  retention_seconds: 345_600,
  max_message_bytes: 262_144,
  delivery_delay_seconds: 0,
};

/** What only SQS has of a queue. */
export interface Kept {
  readonly attributes: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
}

export function keptOf({ sqs_settings: kept }: Pick<QueueSettings, 'sqs_settings'>): Kept {
  return kept === null ? { attributes: {}, tags: {} } : (JSON.parse(kept) as Kept);
}

export function keptText({ attributes, tags }: Kept): string | null {
  const isEmpty = Object.keys(attributes).length + Object.keys(tags).length === 0;
  return isEmpty ? null : JSON.stringify({ attributes, tags });
}

/** Attributes as a request sets them. */
export interface SetAttributes {
  readonly settings: ExactSettingsInput;
  readonly kept: Readonly<Record<string, string>>;
  readonly isFifo: boolean;
  /** Null: taken away; undefined: not sent. */
  readonly redrive: { readonly target: string; readonly receives: number } | null | undefined;
}

/** Throws InvalidAttributeName, InvalidAttributeValue, UnsupportedOperation. */
export function readAttributes(sent: Fields, accountId: string): SetAttributes {
  const settings: Record<string, number> = {};
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(sent)) {
    if (!WRITTEN.includes(name)) throw unknownAttribute(name);
    if (typeof value !== 'string') throw wrongValue(name, 'It must be a text.');
    if (name === 'FifoQueue' || name === 'RedrivePolicy') continue;
    if (name in NUMBERS) {
      const setting = readNumber(name as keyof typeof NUMBERS, value);
      if (setting === null) kept[name] = value;
      else settings[setting] = Number(value);
    } else kept[name] = readKept(name, value);
  }
  return { settings, kept, isFifo: isFifo(sent.FifoQueue), redrive: readRedrive(sent.RedrivePolicy, accountId) };
}

function readNumber(name: keyof typeof NUMBERS, value: string) {
  const [setting, min, max] = NUMBERS[name];
  if (!/^\d{1,9}$/.test(value) || Number(value) < min || Number(value) > max) {
    throw wrongValue(name, `It must be an integer from ${min} to ${max}.`);
  }
  return setting;
}

function readKept(name: string, value: string): string {
  if (name === 'Policy' || name === 'RedriveAllowPolicy') {
    if (value === '') return value;
    throw refusal(
      'UnsupportedOperation',
      `${name} is not supported: the scopes of API keys say who may do what.`,
      name,
    );
  }
  if (KEPT[name]?.test(value) !== true) throw wrongValue(name, 'This value is not supported.');
  return value;
}

function isFifo(value: unknown): boolean {
  if (value === undefined || value === 'true') return value !== undefined;
  throw wrongValue('FifoQueue', 'It is true, or not sent.');
}

function readRedrive(sent: unknown, accountId: string): SetAttributes['redrive'] {
  if (sent === undefined) return undefined;
  if (sent === '') return null;
  const { deadLetterTargetArn: arn, maxReceiveCount: count } = policyOf(String(sent));
  const target = typeof arn === 'string' ? queueNameInArn(arn, accountId) : null;
  if (target === null)
    throw wrongValue('RedrivePolicy', 'deadLetterTargetArn must be the ARN of a queue of this account.');
  const receives = typeof count === 'string' && /^\d{1,4}$/.test(count) ? Number(count) : count;
  if (!Number.isInteger(receives) || (receives as number) < 1 || (receives as number) > 1_000) {
    throw wrongValue('RedrivePolicy', 'maxReceiveCount must be an integer from 1 to 1000.');
  }
  return { target, receives: receives as number };
}

function policyOf(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value)) return value;
  } catch {
    // told below
  }
  throw wrongValue('RedrivePolicy', 'It must be a JSON object.');
}

/** Throws InvalidAttributeValue for what the other type of queue has. */
export function requireAttributesOf(type: QueueRow['type'], { kept, isFifo: asked }: SetAttributes): void {
  if (type === 'fifo') return;
  if (asked) throw wrongValue('FifoQueue', 'The type of a queue never changes.');
  const wrong = Object.keys(kept).find((name) => FIFO_ONLY.has(name));
  if (wrong !== undefined) throw refusal('InvalidAttributeName', `${wrong} is for FIFO queues.`, wrong);
}

/** Names asked for; `All` are all. Throws InvalidAttributeName. */
export function readNames(sent: readonly string[]): ReadonlySet<string> | 'all' {
  const wrong = sent.find((name) => name !== 'All' && !KNOWN.has(name));
  if (wrong !== undefined) throw unknownAttribute(wrong);
  return sent.includes('All') ? 'all' : new Set(sent);
}

/** All attributes of the queue. */
export function attributesOf(
  core: Services,
  queue: QueueRow,
  { available_count, delayed_count, in_flight_count }: QueueStats,
  dlq: QueueRow | null,
): Record<string, string> {
  const { attributes } = keptOf(queue);
  const { account_id: accountId } = queue;
  const isFifoQueue = queue.type === 'fifo';
  return {
    QueueArn: queueArn(core, accountId, shownName(queue)),
    ApproximateNumberOfMessages: String(available_count),
    ApproximateNumberOfMessagesNotVisible: String(in_flight_count),
    ApproximateNumberOfMessagesDelayed: String(delayed_count),
    CreatedTimestamp: String(Math.floor(queue.created_at / 1000)),
    LastModifiedTimestamp: String(Math.floor(queue.updated_at / 1000)),
    VisibilityTimeout: String(queue.visibility_timeout_default),
    MaximumMessageSize: String(queue.max_message_bytes),
    MessageRetentionPeriod: String(queue.retention_seconds),
    DelaySeconds: String(queue.delivery_delay_seconds),
    ReceiveMessageWaitTimeSeconds: '0',
    SqsManagedSseEnabled: 'false',
    ...(isFifoQueue
      ? {
          FifoQueue: 'true',
          ContentBasedDeduplication: 'false',
          DeduplicationScope: 'queue',
          FifoThroughputLimit: 'perQueue',
        }
      : {}),
    ...(dlq === null
      ? {}
      : {
          RedrivePolicy: JSON.stringify({
            deadLetterTargetArn: queueArn(core, accountId, shownName(dlq)),
            maxReceiveCount: queue.max_receive_count,
          }),
        }),
    ...Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== '')),
  };
}

function unknownAttribute(name: string) {
  return refusal('InvalidAttributeName', `Unknown attribute ${name.slice(0, 64)}.`, 'AttributeName');
}

function wrongValue(name: string, reason: string) {
  return refusal('InvalidAttributeValue', `Invalid value for the attribute ${name}. ${reason}`, name);
}
