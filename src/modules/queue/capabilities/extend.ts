import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { isoOrNull } from '../../../lib/time.ts';
import { extendMessage } from '../consume/ack.ts';
import { shownId, singleRef } from '../consume/refs.ts';
import { RECEIPTS_BODY_BYTES_MAX, VISIBILITY_SECONDS_MAX } from '../limits.ts';
import { queueName, refFields } from '../schemas.ts';
import type { QueueState } from '../state.ts';

export const extend = defineCapability<QueueState>()({
  method: 'POST',
  path: '/v1/queue/extend',
  summary: 'Prolongs the lease of a message.',
  description:
    'Gives the consumer visibility_timeout seconds from now to finish with the message. A stale receipt answers extended false and touches nothing.',
  keywords: [
    'extend visibility timeout',
    'sqs ChangeMessageVisibility',
    'job takes longer',
    'heartbeat of a worker',
    'keep lease',
    'more time for a message',
  ],
  input: Type.Object({
    queue: queueName('Name of the queue the message was consumed from.'),
    ...refFields,
    visibility_timeout: Type.Integer({
      minimum: 0,
      maximum: VISIBILITY_SECONDS_MAX,
      description: 'Seconds from now; 0 ends the lease at once.',
    }),
  }),
  output: Type.Object({
    message_id: Type.String({ description: 'The message named.' }),
    extended: Type.Boolean({ description: 'Whether the lease was changed.' }),
    visibility_timeout_expires_at: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'New end of the lease; null when not extended.',
    }),
  }),
  isKeyless: true,
  unlimited: true,
  bodyBytesMax: RECEIPTS_BODY_BYTES_MAX,
  errors: ['QUEUE_NOT_FOUND'],
  limits: { rate: 'None.' },
  examples: [
    {
      title: 'Ten more minutes',
      before: [
        { capability: 'queue.create', input: { name: 'extended' } },
        { capability: 'queue.publish', input: { queue: 'extended', payload: { n: 1 } } },
        { capability: 'queue.consume', input: { queue: 'extended' } },
      ],
      input: { queue: 'extended', receipt_handle: '$2.items[0].receipt_handle', visibility_timeout: 600 },
      expect: { extended: true },
    },
  ],
  async run({ ctx, input, state }) {
    const named = singleRef(state.ids, ctx.accountId, input);
    const queue = await state.cache.refresh(ctx.accountId, input.queue);
    const endMs =
      named.ref === null ? null : await extendMessage(ctx.core.db, queue, named.ref, input.visibility_timeout);
    return {
      data: {
        message_id: shownId(state.ids, ctx.accountId, named),
        extended: endMs !== null,
        visibility_timeout_expires_at: isoOrNull(endMs),
      },
    };
  },
});
