import Type from 'typebox';
import { listPage } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, limitField, pageOf } from '../../../kit/fields.ts';
import { subscriptionRecord } from '../push/record.ts';
import { subscriptionSchema } from '../push/schemas.ts';
import { listSubscriptions } from '../push/subscription-store.ts';
import { queueName } from '../schemas.ts';
import type { QueueState } from '../state.ts';

export const subscriptions = defineCapability<QueueState>()({
  method: 'GET',
  path: '/v1/queue/subscriptions/{queue}',
  summary: 'Lists the push subscriptions of a queue.',
  description: 'Newest first. Secrets are not shown again, and values of headers are masked.',
  keywords: ['list push subscriptions', 'who gets pushes'],
  input: Type.Object({ queue: queueName('Name of the queue.'), cursor: cursorField, limit: limitField }),
  output: pageOf(subscriptionSchema),
  errors: ['QUEUE_NOT_FOUND'],
  examples: [
    {
      title: 'None yet',
      before: [{ capability: 'queue.create', input: { name: 'never-pushed' } }],
      input: { queue: 'never-pushed' },
      expect: { has_more: false },
    },
  ],
  async run({ ctx, input, state }) {
    const { db, secrets } = ctx.core;
    const queue = await state.cache.refresh(ctx.accountId, input.queue);
    const shown = await listPage(ctx, input, {
      filters: [queue.name],
      // '~' sorts after every id.
      read: (before, limit) => listSubscriptions(db, ctx.accountId, queue.queue_id, before ?? '~', limit),
      positionOf: (row) => row.subscription_id,
    });
    return { data: { ...shown, items: shown.items.map((row) => subscriptionRecord(secrets, row, queue.name)) } };
  },
});
