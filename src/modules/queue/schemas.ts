// Schemas shared by the queue operations.

import Type from 'typebox';
import { orNull } from '../../kit/fields.ts';
import { DELAY_SECONDS_MAX, RECEIPTS_MAX, VISIBILITY_SECONDS_MAX } from './limits.ts';
import { queueProblems } from './problems.ts';

const QUEUE_NAME = '^[a-z0-9._-]+$';
// Text that PostgreSQL can hold: no NUL, no lone surrogates.
const STORABLE = '^[^\\u0000\\p{Cs}]*$';

export const queueName = (description: string) =>
  Type.String({ minLength: 3, maxLength: 80, pattern: QUEUE_NAME, description });

const deadLetterQueue = (description: string) =>
  Type.Optional(orNull<string>({ type: 'string', minLength: 3, maxLength: 80, pattern: QUEUE_NAME }, description));
const deliveries = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description }));

export const settingsFields = {
  dead_letter_queue: deadLetterQueue(
    'Existing queue of the same type that takes messages after max_retries deliveries without an ack. Null: none. ' +
      'The same as dlq_name.',
  ),
  dlq_name: deadLetterQueue('The same as dead_letter_queue.'),
  max_retries: deliveries(
    'Deliveries of a message before it moves to the dead-letter queue; 3 when not set. Has no effect without a dead-letter queue. ' +
      'The same as max_receive_count.',
  ),
  max_receive_count: deliveries('The same as max_retries.'),
  message_retention_days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 30,
      description: 'Days after publishing that an unacknowledged message is kept; 14 when not set.',
    }),
  ),
  max_message_size_kb: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 256,
      description: 'Largest message in KiB: UTF-8 bytes of the payload as sent plus headers; 256 when not set.',
    }),
  ),
  visibility_timeout_default: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: VISIBILITY_SECONDS_MAX,
      description: 'Seconds a consumer has to acknowledge a message before it is delivered again; 300 when not set.',
    }),
  ),
  delivery_delay_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 900,
      description: 'Delay of messages that are published without delay_seconds; 0 when not set.',
    }),
  ),
  enable_priority: Type.Optional(
    Type.Boolean({
      description:
        'Whether the priority of messages published from now on decides their order; false when not set. Not for FIFO queues.',
    }),
  ),
};

export const queueSchema = Type.Object(
  {
    name: Type.String({ description: 'Name of the queue, unique in the account.' }),
    type: Type.Enum(['standard', 'fifo'], { description: '`fifo` keeps the order per message group.' }),
    account_id: Type.String({ description: 'Owner.' }),
    message_retention_days: Type.Integer({ description: 'Days that a message is kept.' }),
    max_message_size_kb: Type.Integer({ description: 'Largest message in KiB.' }),
    visibility_timeout_default: Type.Integer({ description: 'Length of a lease in seconds.' }),
    delivery_delay_seconds: Type.Integer({ description: 'Delay of messages published without one, in seconds.' }),
    enable_priority: Type.Boolean({ description: 'Whether priority decides the order.' }),
    sqs_name: orNull<string>(
      { type: 'string' },
      'Its name as the client of SQS spelled it that made the queue; null when it was made here.',
    ),
    dlq_name: orNull<string>({ type: 'string' }, 'Dead-letter queue, null when there is none.'),
    dead_letter_queue: orNull<string>({ type: 'string' }, 'The same as dlq_name.'),
    max_receive_count: Type.Integer({
      description: 'Deliveries before the dead-letter queue.',
    }),
    max_retries: Type.Integer({ description: 'The same as max_receive_count.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the queue was created.' }),
    updated_at: Type.String({ format: 'date-time', description: 'When its settings last changed.' }),
  },
  { title: 'Queue', description: 'A queue.' },
);

const messageFields = {
  message_id: Type.String({
    pattern: '^qmsg_[A-Za-z0-9]{20,}$',
    description: 'Id of the message; stays the same through redeliveries and the dead-letter queue.',
  }),
  queue: Type.String({ description: 'Queue of the message.' }),
  account_id: Type.String({ description: 'Owner.' }),
  payload: Type.Unknown({ description: 'The JSON object as it was published, byte for byte.' }),
  headers: Type.Unsafe<unknown>({ type: ['object', 'null'], description: 'Custom headers as published.' }),
  status: Type.Enum(['available', 'in_flight', 'deleted', 'dlq'], { description: 'Where the message is.' }),
  delivery_count: Type.Integer({ description: 'How often it was delivered.' }),
  visibility_timeout_expires_at: orNull<string>(
    { type: 'string', format: 'date-time' },
    'End of the current lease; null when not leased.',
  ),
  published_at: Type.String({ format: 'date-time', description: 'When it was published.' }),
  available_at: Type.String({
    format: 'date-time',
    description: 'From when it can be delivered; in the future for a delayed message.',
  }),
  priority: Type.Integer({ description: '0 to 10; 10 first when the queue has priority enabled.' }),
  message_group_id: orNull<string>(
    { type: 'string' },
    'FIFO group; null for the default group and for standard queues.',
  ),
  deduplication_id: orNull<string>({ type: 'string' }, 'FIFO deduplication id.'),
};

export const messageSchema = Type.Object(messageFields, { title: 'Message', description: 'A message.' });
export const deliveredSchema = Type.Object(
  {
    ...messageFields,
    receipt_handle: Type.String({ description: 'Send it to ack, nack or extend. It is good for this delivery only.' }),
  },
  { title: 'DeliveredMessage', description: 'A delivered message.' },
);
export const deadSchema = Type.Object(
  {
    ...messageFields,
    dlq_name: Type.String({ description: 'The dead-letter queue it lies in.' }),
    dead_lettered_at: Type.String({ format: 'date-time', description: 'When it was moved there.' }),
    reason: orNull<string>({ type: 'string' }, 'Why the latest nack with a reason gave it back; null without one.'),
  },
  { title: 'DeadMessage', description: 'A message in the dead-letter queue.' },
);

export const storable = (description: string, maxLength = 128) =>
  orNull<string>({ type: 'string', minLength: 1, maxLength, pattern: STORABLE }, description);

/** Fields of one message to publish. */
export const publishFields = {
  payload: Type.Optional(
    Type.Unsafe<object>({
      type: 'object',
      description: 'The message: any JSON object. It is stored and delivered exactly as sent.',
    }),
  ),
  body: Type.Optional(
    Type.Unsafe<object>({ type: 'object', description: 'Another name for payload; send one of the two.' }),
  ),
  headers: Type.Optional(
    Type.Unsafe<object | null>({
      type: ['object', 'null'],
      description: 'Custom headers, delivered with the message; they count towards its size.',
    }),
  ),
  delay_seconds: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: DELAY_SECONDS_MAX,
      description:
        'Seconds until the message can be delivered, up to 7 days; absent: the delay of the queue; 0: at once.',
    }),
  ),
  priority: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 10,
      description: '10 is delivered first, 0 (default) last. It decides the order only in queues with enable_priority.',
    }),
  ),
  message_group_id: Type.Optional(
    storable('FIFO only: messages of a group are delivered strictly in order. Absent: the default group.'),
  ),
  deduplication_id: Type.Optional(
    storable(
      'FIFO only: a second message with this id within 5 minutes is not stored and costs nothing; the first one is answered.',
    ),
  ),
};

const ref = Type.String({ minLength: 1, maxLength: 200, description: 'message_id, or receipt_handle of a delivery.' });
export const refFields = {
  message_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Id of the message: acts on its current lease. A receipt_handle is accepted here too.',
    }),
  ),
  receipt_handle: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Receipt of the delivery: does nothing when the message was delivered again since. A message_id is accepted here too.',
    }),
  ),
};
export const receiptsField = Type.Optional(
  Type.Array(ref, {
    minItems: 1,
    maxItems: RECEIPTS_MAX,
    description: `Up to ${RECEIPTS_MAX} receipts or message ids at once, instead of a single one; answered as items in the same order.`,
  }),
);

/** Of each entry of `items`, where receipts were sent. */
export const outcomeFields = {
  ok: Type.Boolean({ description: 'Whether it was done.' }),
  error: Type.Unsafe<{ readonly code: string; readonly message: string } | null>({
    type: ['object', 'null'],
    description: 'Why it was not; null when it was.',
    properties: {
      code: { type: 'string', description: 'Error code.' },
      message: { type: 'string', description: 'Sentence for people.' },
    },
    required: ['code', 'message'],
  }),
};

const notInFlight = { code: 'MESSAGE_NOT_IN_FLIGHT', message: queueProblems.MESSAGE_NOT_IN_FLIGHT.title };

export function outcome(ok: boolean) {
  return { ok, error: ok ? null : notInFlight };
}

export const redriveSchema = Type.Object(
  {
    redrive_id: Type.String({ description: 'Id of the redrive, `rdr_…`.' }),
    queue: orNull<string>({ type: 'string' }, 'Source queue; null when it was deleted since.'),
    dlq_name: orNull<string>(
      { type: 'string' },
      'Its dead-letter queue at the start; null when there was none or it was deleted since.',
    ),
    state: Type.Enum(['running', 'completed', 'cancelled', 'failed'], {
      description: '`failed` when the queue was deleted meanwhile.',
    }),
    moved: Type.Integer({ description: 'Messages moved so far.' }),
    requested: orNull<number>({ type: 'integer' }, 'Messages to be moved at most.'),
    rate_per_second: orNull<number>({ type: 'integer' }, 'Messages a second; null for all at once.'),
    created_at: Type.String({ format: 'date-time', description: 'When it was started.' }),
    finished_at: orNull<string>({ type: 'string', format: 'date-time' }, 'When it ended; null while it runs.'),
  },
  { title: 'Redrive', description: 'A redrive.' },
);
