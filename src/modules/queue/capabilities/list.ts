import Type from 'typebox';
import { listPage } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, limitField, pageOf } from '../../../kit/fields.ts';
import { queueRecord } from '../queues/records.ts';
import { listQueues } from '../queues/store.ts';
import { queueSchema } from '../schemas.ts';
import type { QueueState } from '../state.ts';

export const list = defineCapability<QueueState>()({
  method: 'GET',
  path: '/v1/queue/list',
  summary: 'Lists the queues of the account.',
  description: 'Queues by name, page by page.',
  keywords: ['list queues', 'show all queues'],
  input: Type.Object({ cursor: cursorField, limit: limitField }),
  output: pageOf(queueSchema),
  examples: [{ title: 'The first queues', input: { limit: 10 }, expect: { has_more: false } }],
  async run({ ctx, input }) {
    const shown = await listPage(ctx, input, {
      read: (after, limit) => listQueues(ctx.core.db, ctx.accountId, after ?? '', limit),
      positionOf: (row) => row.name,
    });
    return { data: { ...shown, items: shown.items.map(queueRecord) } };
  },
});
