import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { answerKnown, type NamedRef, refList, shownId, singleRef } from '../consume/refs.ts';
import { RECEIPTS_BODY_BYTES_MAX } from '../limits.ts';
import { outcome, outcomeFields, queueName, receiptsField, refFields } from '../schemas.ts';
import { type QueueState, queueKey } from '../state.ts';

const acked = {
  message_id: Type.String({ description: 'The message named.' }),
  acked: Type.Boolean({
    description: 'True when this call acknowledged the message; false when the receipt is stale or the message gone.',
  }),
  status: Type.Unsafe<string | null>({ type: ['string', 'null'], description: '`deleted` when acked, else null.' }),
};

export const ack = defineCapability<QueueState>()({
  method: 'POST',
  path: '/v1/queue/ack',
  summary: 'Confirms that messages are done.',
  description:
    'Removes delivered messages for good. With a receipt_handle only the delivery it came with can be acknowledged: after a redelivery it ' +
    'answers acked false and touches nothing. An unknown message is no error: acked is false.',
  keywords: [
    'acknowledge message',
    'complete job',
    'sqs DeleteMessage',
    'mark job done',
    'tell that a job is finished',
  ],
  input: Type.Object({
    queue: queueName('Name of the queue the message was consumed from.'),
    ...refFields,
    receipts: receiptsField,
  }),
  output: Type.Object({
    message_id: Type.Optional(acked.message_id),
    acked: Type.Optional(acked.acked),
    status: Type.Optional(acked.status),
    items: Type.Optional(
      Type.Array(Type.Object({ ...acked, ...outcomeFields }), {
        description: 'One per entry of receipts, in the same order.',
      }),
    ),
  }),
  isKeyless: true,
  unlimited: true,
  bodyBytesMax: RECEIPTS_BODY_BYTES_MAX,
  errors: ['QUEUE_NOT_FOUND'],
  limits: { receipts: '100 a call.', rate: 'None.' },
  examples: [
    {
      title: 'Done',
      before: [
        { capability: 'queue.create', input: { name: 'acked' } },
        { capability: 'queue.publish', input: { queue: 'acked', payload: { n: 1 } } },
        { capability: 'queue.consume', input: { queue: 'acked' } },
      ],
      input: { queue: 'acked', receipt_handle: '$2.items[0].receipt_handle' },
      expect: { acked: true, status: 'deleted' },
    },
  ],
  async run({ ctx, input, state }) {
    const list = refList(state.ids, ctx.accountId, input);
    const named = list ?? [singleRef(state.ids, ctx.accountId, input)];
    // Also an id that names nothing is asked about: a missing queue is 404 whatever is sent.
    if (named.every(({ ref }) => ref === null)) await state.cache.refresh(ctx.accountId, input.queue);
    const results = await answerKnown(named, false, (refs) =>
      state.acking.add(queueKey(ctx.accountId, input.queue), refs),
    );
    const answers = named.map((one: NamedRef, i) => ({
      message_id: shownId(state.ids, ctx.accountId, one),
      acked: results[i] as boolean,
      status: results[i] === true ? 'deleted' : null,
    }));
    return {
      data: list === null ? answers[0] : { items: answers.map((each) => ({ ...each, ...outcome(each.acked) })) },
    };
  },
});
