import Type from 'typebox';
import { listPage } from '../../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { cursorField, limitField, pageOf } from '../../../../kit/fields.ts';
import { listRedrives, redriveRecord } from '../../dead-letter/redrive-store.ts';
import { queueName, redriveSchema } from '../../schemas.ts';
import type { QueueState } from '../../state.ts';

export const dlqRedrives = defineCapability<QueueState>()({
  method: 'GET',
  path: '/v1/queue/dlq/redrives/{queue}',
  summary: 'Lists the redrives of a queue.',
  description: 'Running and ended redrives, newest first.',
  keywords: ['redrive status', 'redrive progress'],
  input: Type.Object({ queue: queueName('Name of the source queue.'), cursor: cursorField, limit: limitField }),
  output: pageOf(redriveSchema),
  errors: ['QUEUE_NOT_FOUND'],
  examples: [
    {
      title: 'None yet',
      before: [{ capability: 'queue.create', input: { name: 'never-redriven' } }],
      input: { queue: 'never-redriven' },
      expect: { has_more: false },
    },
  ],
  async run({ ctx, input, state }) {
    const queue = await state.cache.refresh(ctx.accountId, input.queue);
    const shown = await listPage(ctx, input, {
      filters: [queue.name],
      // '~' sorts after every id.
      read: (before, limit) => listRedrives(ctx.core.db, ctx.accountId, queue.queue_id, before ?? '~', limit),
      positionOf: (row) => row.redrive_id,
    });
    return { data: { ...shown, items: shown.items.map(redriveRecord) } };
  },
});
