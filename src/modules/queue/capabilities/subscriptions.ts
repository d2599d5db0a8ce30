import { type Listed, listOf } from '../../../kit/resource.ts';
import { subscriptionRecord } from '../push/record.ts';
import { subscriptionSchema } from '../push/schemas.ts';
import { listSubscriptions, type SubscriptionRow } from '../push/subscription-store.ts';
import { queueName } from '../schemas.ts';
import type { QueueState } from '../state.ts';

const listed: Listed<SubscriptionRow & { readonly queue: string }, QueueState, typeof subscriptionSchema> = {
  noun: 'push subscription',
  async list(db, { accountId }, { after, limit, filters }, state) {
    const queue = await state.cache.refresh(accountId, String(filters?.queue));
    // '~' sorts after every id.
    const rows = await listSubscriptions(db, accountId, queue.queue_id, after ?? '~', limit);
    return rows.map((row) => ({ ...row, queue: queue.name }));
  },
  positionOf: (row) => row.subscription_id,
  output: subscriptionSchema,
  show: (row, { ctx }) => subscriptionRecord(ctx.core.secrets, row, row.queue),
};

export const subscriptions = listOf(listed, {
  path: '/v1/queue/subscriptions/{queue}',
  summary: 'Lists the push subscriptions of a queue.',
  description: 'Newest first. Secrets are not shown again, and values of headers are masked.',
  keywords: ['list push subscriptions', 'who gets pushes'],
  examples: [
    {
      title: 'None yet',
      before: [{ capability: 'queue.create', input: { name: 'never-pushed' } }],
      input: { queue: 'never-pushed' },
      expect: { has_more: false },
    },
  ],
  filters: { queue: queueName('Name of the queue.') },
  errors: ['QUEUE_NOT_FOUND'],
});
