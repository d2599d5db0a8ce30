import Type from 'typebox';
import { chargeInLane } from '../../../core/wallet/charge/charge.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { alsoNamed } from '../../../kit/second-names.ts';
import { BATCH_BODY_BYTES_MAX, BATCH_MESSAGES_MAX } from '../limits.ts';
import { ITEMS_BEFORE, type MessageFields, messagesFromSource, type SentMessages } from '../publish/message.ts';
import { messageSchema, publishFields, queueName } from '../schemas.ts';
import type { QueueState } from '../state.ts';

export const batchPublish = defineCapability<QueueState>()({
  method: 'POST',
  path: '/v1/queue/batch/publish',
  summary: 'Publishes up to 100 messages.',
  description:
    'All or nothing: every message is stored and charged, or none is. Costs the price of publish per message; repeated deduplication ids cost nothing.',
  keywords: [
    'bulk enqueue',
    'sqs SendMessageBatch',
    'send messages',
    'publish many messages',
    'many messages at once',
    'hundreds of jobs',
  ],
  input: Type.Object({
    queue: queueName('Name of an existing queue.'),
    items: alsoNamed(
      Type.Array(Type.Object(publishFields, { description: 'A message, with the fields of publish without queue.' }), {
        minItems: 1,
        maxItems: BATCH_MESSAGES_MAX,
        description: `1 to ${BATCH_MESSAGES_MAX} messages, stored in this order.`,
      }),
      ITEMS_BEFORE,
    ),
  }),
  output: Type.Object({
    queue: Type.String({ description: 'Name of the queue.' }),
    items: Type.Array(messageSchema, { description: 'The messages in the order sent.' }),
  }),
  price: 'queue.publish',
  bodyBytesMax: BATCH_BODY_BYTES_MAX,
  bulk: {
    source: import.meta.url,
    reduce: ({ queue, items }: { queue: string; items: readonly MessageFields[] }, { text }) => {
      const value: SentMessages = { queue, messages: messagesFromSource(text, items), characters: text.length };
      return { value, transfer: [] };
    },
  },
  opaque: ['payload', 'body', 'headers'],
  errors: ['QUEUE_NOT_FOUND', 'MESSAGE_TOO_LARGE'],
  events: ['wallet.low_balance'],
  limits: { items: '100 a call.', repeated: '8 MiB of messages that were published before.' },
  examples: [
    {
      title: 'Two jobs',
      before: [{ capability: 'queue.create', input: { name: 'jobs' } }],
      input: { queue: 'jobs', items: [{ payload: { n: 1 } }, { payload: { n: 2 }, delay_seconds: 5 }] },
      expect: { queue: 'jobs' },
    },
  ],
  run({ ctx, input, state }) {
    const { queue, messages, characters } = input as unknown as SentMessages;
    return chargeInLane(ctx, {
      units: BigInt(messages.length),
      effect: state.publishing,
      input: { queue, messages, paramOf: (i: number) => `items[${i}].`, batch: true },
      sequences: messages.length,
      bytes: characters,
      rows: messages.length,
    });
  },
});
