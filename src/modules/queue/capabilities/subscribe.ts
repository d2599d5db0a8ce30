import Type from 'typebox';
import { findReplay, runWrite } from '../../../core/idempotency/write.ts';
import { LEASE_MARGIN_SECONDS, SHORT_SECONDS, TIMEOUT_SECONDS_MAX } from '../../../core/outbound/long-calls.ts';
import { secretLast4, signingSecret } from '../../../core/outbound/signing-secret.ts';
import { checkTargetHeaders } from '../../../core/outbound/target-headers.ts';
import type { Transaction } from '../../../db/database.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { LONG_CALLS } from '../../../kit/fields.ts';
import type { CallContext } from '../../../kit/services.ts';
import { newId } from '../../../lib/ids.ts';
import { invalidField, type Problem } from '../../../problems/problem.ts';
import { IN_FLIGHT_MAX, SUBSCRIBE_BODY_BYTES_MAX, SUBSCRIPTIONS_PER_QUEUE_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import { SUBSCRIPTIONS_CHANGED } from '../push/dispatcher.ts';
import { type PushTarget, sealTarget, subscriptionRecord } from '../push/record.ts';
import { newSubscriptionSchema, subscribeFields } from '../push/schemas.ts';
import { addSubscription, type SubscriptionRow, subscriptionCount } from '../push/subscription-store.ts';
import { findQueue } from '../queues/store.ts';
import type { QueueState } from '../state.ts';

const replay = { secret: true } as const;

export const subscribe = defineCapability<QueueState>()({
  method: 'POST',
  path: '/v1/queue/subscribe',
  summary: 'Has messages of a queue pushed to a URL.',
  description:
    'From now on the service consumes the queue itself and POSTs each message to url: the message record as JSON, signed by Standard ' +
    'Webhooks with webhook-id = message_id, which stays the same when a message is pushed again. An answer 2xx within ' +
    'timeout_seconds acknowledges; any other outcome gives the message back for 5 seconds, doubled with each delivery up to 15 minutes, or for as long ' +
    'as Retry-After says (1 second to 15 minutes). max_receive_count and the dead-letter queue apply. A FIFO group is pushed one message at a ' +
    'time, in order. Several subscriptions and consumers of a queue share its messages: each message goes to one of them.',
  keywords: [
    'push messages to url',
    'http worker',
    'deliver queue to endpoint',
    'sns subscription',
    'call my server with each message',
  ],
  input: Type.Object(subscribeFields),
  output: newSubscriptionSchema,
  replay,
  bodyBytesMax: SUBSCRIBE_BODY_BYTES_MAX,
  errors: ['QUEUE_NOT_FOUND', 'QUOTA_EXCEEDED', 'WEBHOOK_URL_REJECTED', 'WEBHOOK_HEADER_REJECTED'],
  limits: {
    subscriptions: `${SUBSCRIPTIONS_PER_QUEUE_MAX} a queue.`,
    in_flight: `${IN_FLIGHT_MAX} requests at once a subscription.`,
    answer: `Within timeout_seconds, ${TIMEOUT_SECONDS_MAX} at most.`,
    long_calls: LONG_CALLS,
  },
  examples: [
    {
      title: 'Push a queue to a service',
      before: [{ capability: 'queue.create', input: { name: 'pushed' } }],
      input: {
        queue: 'pushed',
        url: 'https://example.org/jobs',
        headers: { Authorization: 'Bearer token-of-the-receiver' },
        max_in_flight: 5,
      },
      expect: { queue: 'pushed', url: 'https://example.org/jobs', status: 'active', max_in_flight: 5 },
    },
  ],
  async run({ ctx, input }) {
    const target: PushTarget = {
      headers: checkTargetHeaders(input.headers ?? {}, 'headers'),
      secret: signingSecret(input.secret, 'secret'),
    };
    // The host is looked up for a new subscription only: a repetition is answered as before, whatever became of the host.
    const replayed = await findReplay(ctx);
    if (replayed !== null) return replayed;
    const timeoutSeconds = input.timeout_seconds ?? SHORT_SECONDS;
    const lease = input.visibility_timeout ?? null;
    if (lease !== null && lease < timeoutSeconds + LEASE_MARGIN_SECONDS) throw leaseTooShort(timeoutSeconds);
    const warning = await ctx.core.outbound.checkUrl(input.url, 'url');
    if (warning !== null) ctx.warnings.push(warning);
    const settings = {
      url: input.url,
      visibility_timeout: lease,
      timeout_seconds: timeoutSeconds,
      max_in_flight: input.max_in_flight ?? IN_FLIGHT_MAX,
    };
    return runWrite(ctx, (tx, { nowMs }) => add(tx, ctx, input.queue, { target, settings, nowMs }), replay);
  },
});

function leaseTooShort(timeoutSeconds: number): Problem {
  const least = timeoutSeconds + LEASE_MARGIN_SECONDS;
  return invalidField(
    'visibility_timeout',
    'minimum',
    `visibility_timeout must be at least ${least}: timeout_seconds and ${LEASE_MARGIN_SECONDS}.`,
  );
}

interface NewSubscription {
  readonly target: PushTarget;
  readonly settings: Pick<SubscriptionRow, 'url' | 'visibility_timeout' | 'timeout_seconds' | 'max_in_flight'>;
  readonly nowMs: number;
}

async function add(tx: Transaction, ctx: CallContext, name: string, { target, settings, nowMs }: NewSubscription) {
  const { secrets } = ctx.core;
  const queue = await findQueue(tx, ctx.accountId, name);
  if (queue === null) throw problem('QUEUE_NOT_FOUND', { param: 'queue' });
  if ((await subscriptionCount(tx, ctx.accountId, queue.queue_id)) >= SUBSCRIPTIONS_PER_QUEUE_MAX)
    throw problem('QUOTA_EXCEEDED', {
      message: `The queue has its ${SUBSCRIPTIONS_PER_QUEUE_MAX} push subscriptions.`,
    });
  const subscriptionId = newId('sub_', nowMs);
  const row = {
    account_id: ctx.accountId,
    subscription_id: subscriptionId,
    queue_id: queue.queue_id,
    ...settings,
    ...sealTarget(secrets, subscriptionId, target),
    secret_last4: secretLast4(target.secret),
    created_at: nowMs,
  };
  await addSubscription(tx, row);
  tx.hint(SUBSCRIPTIONS_CHANGED);
  return { ...subscriptionRecord(secrets, row, queue.name), secret: target.secret };
}
