import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { consume as consumeMessages } from '../consume/consume.ts';
import { CONSUME_MAX, RECEIPTS_BODY_BYTES_MAX, VISIBILITY_SECONDS_MAX, WAIT_SECONDS_MAX } from '../limits.ts';
import { messageText } from '../queues/records.ts';
import { deliveredSchema, queueName } from '../schemas.ts';
import type { QueueState } from '../state.ts';

export const consume = defineCapability<QueueState>()({
  method: 'POST',
  path: '/v1/queue/consume',
  summary: 'Takes messages to work on.',
  description:
    'Leases up to max_messages messages to the caller and answers them, each with a receipt_handle. Ack each one when its work is done; ' +
    'what is not acked before visibility_timeout_expires_at is delivered again. With wait_seconds the call waits for a message (long poll).',
  keywords: [
    'receive messages',
    'dequeue',
    'sqs ReceiveMessage',
    'next job of a worker',
    'long polling worker',
    'pull job',
    'poll queue',
    'lease a message',
  ],
  input: Type.Object({
    queue: queueName('Name of an existing queue.'),
    max_messages: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: CONSUME_MAX,
        default: 1,
        description: `How many messages at most, 1 to ${CONSUME_MAX}; 1 when not sent.`,
      }),
    ),
    wait_seconds: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: WAIT_SECONDS_MAX,
        default: 0,
        description: `Wait up to this long for the first message, 0 to ${WAIT_SECONDS_MAX}; 0 when not sent.`,
      }),
    ),
    visibility_timeout: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: VISIBILITY_SECONDS_MAX,
        description: 'Length of the lease in seconds; the default of the queue when not sent.',
      }),
    ),
  }),
  output: Type.Object({
    items: Type.Array(deliveredSchema, {
      description: 'The messages in the order of delivery; empty when there are none.',
    }),
  }),
  isKeyless: true,
  unlimited: true,
  bodyBytesMax: RECEIPTS_BODY_BYTES_MAX,
  waits: true,
  errors: ['QUEUE_NOT_FOUND'],
  limits: { messages: `${CONSUME_MAX} a call.`, rate: 'None.' },
  examples: [
    {
      title: 'Take a message',
      before: [
        { capability: 'queue.create', input: { name: 'taken' } },
        { capability: 'queue.publish', input: { queue: 'taken', payload: { n: 1 } } },
      ],
      input: { queue: 'taken', max_messages: 10, visibility_timeout: 60 },
    },
  ],
  async run({ ctx, input, state }) {
    const rows = await consumeMessages(state, ctx, {
      queue: input.queue,
      messages: input.max_messages ?? 1,
      waitMs: (input.wait_seconds ?? 0) * 1000,
      visibilityTimeout: input.visibility_timeout,
    });
    const { accountId } = ctx;
    const items = rows.map((row) =>
      messageText(state.ids, row.group_id === '' ? { ...row, group_id: null } : row, {
        accountId,
        queue: input.queue,
        status: 'in_flight',
        availableMs: row.available_at,
        leaseEndMs: row.lease_end,
        extra: `,"receipt_handle":"${state.ids.receipt(accountId, row.seq, row.attempt)}"`,
      }),
    );
    return { data: new JsonText(`{"items":[${items.join(',')}]}`) };
  },
});
