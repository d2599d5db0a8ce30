import Type from 'typebox';
import { chargeInLane } from '../../../core/wallet/charge/charge.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { PUBLISH_BODY_BYTES_MAX } from '../limits.ts';
import { type MessageFields, messageFromSource, type SentMessages } from '../publish/message.ts';
import { messageSchema, publishFields, queueName } from '../schemas.ts';
import type { QueueState } from '../state.ts';

const FIXED_BYTES = 512;

export const publish = defineCapability<QueueState>()({
  method: 'POST',
  path: '/v1/queue/publish',
  summary: 'Publishes a message.',
  description:
    'Stores one message durably before it answers, and charges for it in the same transaction. The payload comes back byte for byte. ' +
    'Send an idempotency_key to be able to repeat the call safely. status is `available` also for a delayed message: available_at tells from when.',
  keywords: [
    'enqueue job',
    'sqs SendMessage',
    'send message',
    'publish a message to a queue',
    'delay a message',
    'produce message',
    'push task',
    'pub/sub publish',
    'background job',
    'work for later',
  ],
  input: Type.Object({ queue: queueName('Name of an existing queue.'), ...publishFields }),
  output: messageSchema,
  price: 'queue.publish',
  bodyBytesMax: PUBLISH_BODY_BYTES_MAX,
  bulk: {
    source: import.meta.url,
    reduce: ({ queue, ...message }: { queue: string } & MessageFields, { text }) => {
      const value: SentMessages = {
        queue,
        messages: [messageFromSource(text, 0, message, '')],
        characters: text.length,
      };
      return { value, transfer: [] };
    },
  },
  opaque: ['payload', 'body', 'headers'],
  errors: ['QUEUE_NOT_FOUND', 'MESSAGE_TOO_LARGE'],
  events: ['wallet.low_balance'],
  limits: {
    size: 'max_message_size_kb of the queue, at most 256 KiB.',
    delay: 'Up to 7 days, and shorter than the retention of the queue.',
  },
  examples: [
    {
      title: 'A job',
      before: [{ capability: 'queue.create', input: { name: 'jobs' } }],
      input: { queue: 'jobs', payload: { task: 'resize', image: 17 } },
      expect: { status: 'available', delivery_count: 0, queue: 'jobs' },
    },
    {
      title: 'In a minute, safe to repeat',
      before: [{ capability: 'queue.create', input: { name: 'jobs' } }],
      input: { queue: 'jobs', payload: { task: 'remind' }, delay_seconds: 60, idempotency_key: 'remind-17' },
      expect: { status: 'available' },
    },
  ],
  run({ ctx, input, state }) {
    const { queue, messages, characters } = input as unknown as SentMessages;
    return chargeInLane(ctx, {
      units: 1n,
      effect: state.publishing,
      input: { queue, messages, paramOf: () => '', batch: false },
      sequences: 1,
      bytes: characters + FIXED_BYTES,
      rows: 1,
    });
  },
});
