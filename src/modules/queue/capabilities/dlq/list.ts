import Type from 'typebox';
import { decodeCursor, encodeCursor } from '../../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { cursorField, limitField, pageOf } from '../../../../kit/fields.ts';
import { JsonText } from '../../../../lib/json-text.ts';
import { iso } from '../../../../lib/time.ts';
import { listDead } from '../../dead-letter/redrive-store.ts';
import { messageText } from '../../queues/records.ts';
import { catchUpWithDlq } from '../../queues/stats.ts';
import { deadSchema, queueName } from '../../schemas.ts';
import type { QueueState } from '../../state.ts';

export const dlqList = defineCapability<QueueState>()({
  method: 'GET',
  path: '/v1/queue/dlq/list/{queue}',
  summary: 'Lists the dead-lettered messages of a queue.',
  description:
    'The messages of this queue (not of the dead-letter queue as a whole) that are now in its dead-letter queue, in publish order. ' +
    'A page ends early, with has_more, when its payloads reach 4 MiB.',
  keywords: ['dead letter queue', 'failed messages', 'poison messages', 'inspect dlq', 'messages that failed'],
  input: Type.Object({ queue: queueName('Name of the source queue.'), cursor: cursorField, limit: limitField }),
  output: pageOf(deadSchema),
  errors: ['QUEUE_NOT_FOUND'],
  examples: [
    {
      title: 'None yet',
      before: [{ capability: 'queue.create', input: { name: 'jobs' } }],
      input: { queue: 'jobs' },
      expect: { has_more: false },
    },
  ],
  async run({ ctx, input, state }) {
    const { db, secrets } = ctx.core;
    const queue = await state.cache.refresh(ctx.accountId, input.queue);
    await catchUpWithDlq(db, state.ids, queue);
    const binding = [ctx.accountId, ctx.capability, queue.name];
    const [after = '0'] = input.cursor === undefined ? [] : decodeCursor(secrets, binding, input.cursor);
    const limit = input.limit ?? 20;
    const { rows, hasMore } = await listDead(db, ctx.accountId, queue.queue_id, BigInt(after), limit);
    const next = hasMore ? encodeCursor(secrets, binding, [String(rows.at(-1)?.seq)]) : null;
    const items = rows.map((row) =>
      messageText(state.ids, row.group_id === '' ? { ...row, group_id: null } : row, {
        accountId: ctx.accountId,
        queue: queue.name,
        status: 'dlq',
        availableMs: row.dead_lettered_at,
        leaseEndMs: null,
        extra: `,"dlq_name":"${row.dlq_name}","dead_lettered_at":"${iso(row.dead_lettered_at)}","reason":${JSON.stringify(row.reason)}`,
      }),
    );
    return {
      data: new JsonText(`{"items":[${items.join(',')}],"next_cursor":${JSON.stringify(next)},"has_more":${hasMore}}`),
    };
  },
});
