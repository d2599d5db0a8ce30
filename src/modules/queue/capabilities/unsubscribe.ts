import { setTimeout as sleep } from 'node:timers/promises';
import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { problem } from '../problems.ts';
import { SUBSCRIPTIONS_CHANGED } from '../push/dispatcher.ts';
import { SEND_WITHIN_MS } from '../push/session.ts';
import { removeSubscription } from '../push/subscription-store.ts';
import type { QueueState } from '../state.ts';

export const unsubscribe = defineCapability<QueueState>()({
  method: 'DELETE',
  path: '/v1/queue/unsubscribe/{subscription_id}',
  summary: 'Ends a push subscription.',
  description:
    'Once this is answered no request is begun any more; requests under way end by themselves, and their answers count. ' +
    'Messages stay in the queue.',
  keywords: ['remove push subscription', 'stop pushing messages'],
  input: Type.Object({
    subscription_id: Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: '^[A-Za-z0-9_-]+$',
      description: 'Id of the subscription, as subscribe and subscriptions return it.',
    }),
  }),
  output: Type.Object({
    subscription_id: Type.String({ description: 'As sent.' }),
    queue: Type.String({ description: 'Queue whose messages were pushed.' }),
    deleted: Type.Boolean({ description: 'True.' }),
  }),
  errors: ['SUBSCRIPTION_NOT_FOUND'],
  examples: [
    {
      title: 'Stop pushing',
      before: [
        { capability: 'queue.create', input: { name: 'pushed-for-a-while' } },
        { capability: 'queue.subscribe', input: { queue: 'pushed-for-a-while', url: 'https://example.org/jobs' } },
      ],
      input: { subscription_id: '$1.subscription_id' },
      expect: { queue: 'pushed-for-a-while', deleted: true },
    },
  ],
  async run({ ctx, input, state }) {
    const { subscription_id: subscriptionId } = input;
    // A repeat may be answered while the first call still waits: it waits as long.
    let mayBeSending = true;
    const answer = await runWrite(ctx, async (tx) => {
      const removed = await removeSubscription(tx, ctx.accountId, subscriptionId);
      if (removed === null) throw problem('SUBSCRIPTION_NOT_FOUND', { param: 'subscription_id' });
      mayBeSending = removed.driven && removed.holder !== ctx.core.processes.id;
      tx.hint(SUBSCRIPTIONS_CHANGED);
      return { subscription_id: subscriptionId, queue: removed.queue, deleted: true };
    });
    state.push.end(subscriptionId);
    // Messages that the other process had claimed before are sent by then, or not at all.
    if (mayBeSending) await sleep(SEND_WITHIN_MS);
    return answer;
  },
});
