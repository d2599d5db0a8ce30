// Webhook events of queues.
import Type from 'typebox';
import { type EventKind, type EventWords, eventKind, inWords, membersOf, withoutCall } from '../../kit/event-kind.ts';
import { deadSchema } from './schemas.ts';

const words: Readonly<Record<string, EventWords>> = {
  'queue.dlq': {
    one: (of) =>
      `Queue ${of.queue}: message moved to dead-letter queue ${of.dlq_name} after ${of.delivery_count === 1 ? '1 delivery' : `${of.delivery_count} deliveries`}`,
    many: (of, count) => `Queue ${of.queue}: ${count} messages moved to dead-letter queue ${of.dlq_name}`,
    path: (of) => `/queues/${of.queue}/dlq`,
    tone: 'critical',
  },
};

export const queueEvents: readonly EventKind[] = withoutCall(
  {
    'queue.dlq': 'The last lease of a message ended without an ack.',
  },
  inWords(words, [
    eventKind('queue.dlq', 'A message was moved to its dead-letter queue.', {
      ...membersOf(deadSchema, {
        message_id: 'qmsg_0vTq3mXkfR7bYc1LpZs8Ne',
        queue: 'jobs',
        dlq_name: 'jobs-dead',
        account_id: 'acct_anon_0vTq3mXkfR7bYc1LpZs8Ne',
        status: 'dlq',
        delivery_count: 3,
        published_at: '2026-11-01T11:58:20.000Z',
        dead_lettered_at: '2026-11-01T12:00:00.000Z',
        priority: 0,
        message_group_id: null,
        deduplication_id: null,
        reason: 'image 17 is no image',
      }),
      payload: {
        schema: Type.Unknown({
          description: 'The JSON object as it was published, up to 16 KiB; null beyond, and then truncated is true.',
        }),
        example: { task: 'resize', image: 17 },
      },
    }),
  ]),
);
