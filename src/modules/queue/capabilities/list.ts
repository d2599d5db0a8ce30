import Type from 'typebox';
import { decodeCursor, encodeCursor, page } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../manifest/capability.ts';
import { queueRecord } from '../queues/records.ts';
import { listQueues } from '../queues/store.ts';
import { cursorField, limitField, pageOf, queueSchema } from '../schemas.ts';
import type { QueueState } from '../state.ts';

export const list = defineCapability<QueueState>()({
  id: 'queue.list',
  method: 'GET',
  path: '/v1/queue/list',
  summary: 'Lists the queues of the account.',
  description: 'Queues by name, page by page.',
  input: Type.Object({ cursor: cursorField, limit: limitField }),
  output: pageOf(queueSchema),
  price: 'free',
  scope: 'read',
  idempotent: false,
  errors: [],
  events: [],
  examples: [{ title: 'The first queues', input: { limit: 10 }, expect: { has_more: false } }],
  async run({ ctx, input }) {
    const { db, secrets } = ctx.core;
    const binding = [ctx.accountId, ctx.capability];
    const [after = ''] = input.cursor === undefined ? [] : decodeCursor(secrets, binding, input.cursor);
    const limit = input.limit ?? 20;
    const rows = await listQueues(db, ctx.accountId, String(after), limit + 1);
    const shown = page(rows, limit, (row) => encodeCursor(secrets, binding, [row.name]));
    return { data: { ...shown, items: shown.items.map(queueRecord) } };
  },
});
