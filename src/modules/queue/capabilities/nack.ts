import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { orNull } from '../../../kit/fields.ts';
import { isoOrNull } from '../../../lib/time.ts';
import { type Nacked, nackMessages } from '../consume/nack.ts';
import { answerKnown, refList, shownId, singleRef } from '../consume/refs.ts';
import { DELAY_SECONDS_MAX, REASON_CHARACTERS_MAX, RECEIPTS_BODY_BYTES_MAX } from '../limits.ts';
import { outcome, outcomeFields, queueName, receiptsField, refFields, storable } from '../schemas.ts';
import { type QueueState, queueKey } from '../state.ts';

const nacked = {
  message_id: Type.String({ description: 'The message named.' }),
  nacked: Type.Boolean({
    description: 'True when this call ended the lease; false when the receipt is stale or the message gone.',
  }),
  requeue: Type.Boolean({ description: 'Whether it is delivered again; as sent when not nacked.' }),
  status: orNull<string>(
    { type: 'string' },
    '`available`, `dlq`, or `deleted` when it was dropped; null when not nacked.',
  ),
  delivery_count: orNull<number>({ type: 'integer' }, 'How often it was delivered.'),
  available_at: orNull<string>({ type: 'string', format: 'date-time' }, 'From when it can be delivered again.'),
};

export const nack = defineCapability<QueueState>()({
  method: 'POST',
  path: '/v1/queue/nack',
  summary: 'Gives messages back.',
  description:
    'Ends the lease: the message is available again at once, or after delay_seconds. After max_receive_count deliveries, or with requeue false, ' +
    'it goes to the dead-letter queue (without one, requeue false drops it). In a FIFO queue every later delivered message of the group comes back too, ' +
    'and that delivery of theirs is not counted; with requeue false their leases go on as they are.',
  keywords: [
    'reject message',
    'return job to queue',
    'retry failed job',
    'release message',
    'put a message back',
    'work went wrong',
  ],
  input: Type.Object({
    queue: queueName('Name of the queue the message was consumed from.'),
    ...refFields,
    receipts: receiptsField,
    delay_seconds: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: DELAY_SECONDS_MAX,
        default: 0,
        description: 'Seconds until it can be delivered again; 0 when not sent.',
      }),
    ),
    requeue: Type.Optional(
      Type.Boolean({ default: true, description: 'False: to the dead-letter queue at once. True when not sent.' }),
    ),
    reason: Type.Optional(
      storable(
        `Why, in up to ${REASON_CHARACTERS_MAX} characters: kept with the message and shown where it is dead-lettered. Absent: what an earlier nack said.`,
        REASON_CHARACTERS_MAX,
      ),
    ),
  }),
  output: Type.Object({
    ...Object.fromEntries(Object.entries(nacked).map(([name, schema]) => [name, Type.Optional(schema)])),
    items: Type.Optional(
      Type.Array(Type.Object({ ...nacked, ...outcomeFields }), {
        description: 'One per entry of receipts, in the same order.',
      }),
    ),
  }),
  isKeyless: true,
  unlimited: true,
  bodyBytesMax: RECEIPTS_BODY_BYTES_MAX,
  errors: ['QUEUE_NOT_FOUND'],
  events: ['queue.dlq'],
  limits: { receipts: '100 a call.', rate: 'None.' },
  examples: [
    {
      title: 'Try again in ten seconds',
      before: [
        { capability: 'queue.create', input: { name: 'nacked' } },
        { capability: 'queue.publish', input: { queue: 'nacked', payload: { n: 1 } } },
        { capability: 'queue.consume', input: { queue: 'nacked' } },
      ],
      input: { queue: 'nacked', receipt_handle: '$2.items[0].receipt_handle', delay_seconds: 10 },
      expect: { nacked: true, status: 'available', delivery_count: 1 },
    },
    {
      title: 'Give a message up and say why',
      before: [
        { capability: 'queue.create', input: { name: 'given-up' } },
        { capability: 'queue.create', input: { name: 'orders', dead_letter_queue: 'given-up' } },
        { capability: 'queue.publish', input: { queue: 'orders', payload: { order: 0 } } },
        { capability: 'queue.consume', input: { queue: 'orders' } },
      ],
      input: {
        queue: 'orders',
        receipt_handle: '$3.items[0].receipt_handle',
        requeue: false,
        reason: 'There is no order 0.',
      },
      expect: { nacked: true, requeue: false, status: 'dlq' },
    },
  ],
  async run({ ctx, input, state }) {
    const { accountId } = ctx;
    const list = refList(state.ids, accountId, input);
    const named = list ?? [singleRef(state.ids, accountId, input)];
    const requeue = input.requeue ?? true;
    const queue = await state.cache.refresh(accountId, input.queue);
    const missing: Nacked = { nacked: false, status: null, deliveryCount: null, availableMs: null };
    const options = {
      ids: state.ids,
      delayMs: Math.round((input.delay_seconds ?? 0) * 1000),
      requeue,
      reason: input.reason ?? null,
      requestId: ctx.requestId,
    };
    const results = await answerKnown(named, missing, (refs) => nackMessages(ctx.core.db, queue, refs, options));
    const back = results.filter((result) => result.status === 'available').length;
    if (back > 0 && options.delayMs === 0) state.waiters.wake(queueKey(accountId, input.queue), back);
    const answers = named.map((one, i) => {
      const result = results[i] as Nacked;
      return {
        message_id: shownId(state.ids, accountId, one),
        nacked: result.nacked,
        requeue: result.nacked ? result.status === 'available' : requeue,
        status: result.status,
        delivery_count: result.deliveryCount,
        available_at: isoOrNull(result.availableMs),
      };
    });
    return {
      data: list === null ? answers[0] : { items: answers.map((each) => ({ ...each, ...outcome(each.nacked) })) },
    };
  },
});
