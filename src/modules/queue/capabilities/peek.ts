import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { peekMessages, peekNewest } from '../consume/peek.ts';
import { CONSUME_MAX } from '../limits.ts';
import { messageText } from '../queues/records.ts';
import { catchUpQueue } from '../queues/stats.ts';
import { messageSchema, queueName } from '../schemas.ts';
import type { QueueState } from '../state.ts';

export const peek = defineCapability<QueueState>()({
  method: 'GET',
  path: '/v1/queue/peek/{queue}',
  summary: 'Looks at the next messages without taking them.',
  description:
    'The available messages in the order in which they would be delivered, or the newest: no lease, no receipt, and delivery_count stays.',
  keywords: ['browse messages', 'look without consuming', 'inspect queue'],
  input: Type.Object({
    queue: queueName('Name of the queue.'),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: CONSUME_MAX,
        default: 1,
        description: `How many at most, 1 to ${CONSUME_MAX}; 1 when not sent.`,
      }),
    ),
    newest: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'True: the messages published last, newest first, instead of those delivered next.',
      }),
    ),
  }),
  output: Type.Object({ items: Type.Array(messageSchema, { description: 'The next messages.' }) }),
  errors: ['QUEUE_NOT_FOUND'],
  examples: [
    {
      title: 'The next one',
      before: [{ capability: 'queue.create', input: { name: 'jobs' } }],
      input: { queue: 'jobs', limit: 3 },
    },
  ],
  async run({ ctx, input, state }) {
    const queue = await state.cache.refresh(ctx.accountId, input.queue);
    await catchUpQueue(ctx.core.db, state.ids, queue);
    const rowsOf = input.newest === true ? peekNewest : peekMessages;
    const rows = await rowsOf(ctx.core.db.hot, queue, input.limit ?? 1);
    const items = rows.map((row) =>
      messageText(state.ids, row.group_id === '' ? { ...row, group_id: null } : row, {
        accountId: ctx.accountId,
        queue: queue.name,
        status: 'available',
        availableMs: row.visible_at,
        leaseEndMs: null,
      }),
    );
    return { data: new JsonText(`{"items":[${items.join(',')}]}`) };
  },
});
