import Type from 'typebox';
import { runOutside } from '../../../../../core/idempotency/outside.ts';
import { defineCapability } from '../../../../../kit/capability.ts';
import { requireRow } from '../../../../../kit/resource.ts';
import { JsonText } from '../../../../../lib/json-text.ts';
import { problem } from '../../../problems.ts';
import { publishFor } from '../../../receivers/publishing.ts';
import { receiverIdField, requestIdField } from '../../../receivers/schemas.ts';
import { findReceived, receivers } from '../../../receivers/store.ts';

export const receiveReplay = defineCapability()({
  method: 'POST',
  path: '/v1/account/webhooks/receive/replay/{receiver_id}',
  summary: 'Publishes a received request once more.',
  description:
    'Publishes the same content as a new message, to the queue or channel that the receiver has now, whatever became of the request before. The ' +
    'caller publishes and pays, as by queue.publish or realtime.publish. Without an idempotency_key a repeat publishes once more.',
  keywords: ['replay webhook', 'process a webhook again', 'resend a received webhook'],
  input: Type.Object({ receiver_id: receiverIdField, request_id: requestIdField }),
  output: Type.Object({
    receiver_id: Type.String({ description: 'As sent.' }),
    request_id: Type.String({ description: 'As sent.' }),
    message_id: Type.String({ description: 'The new message.' }),
  }),
  price: 'free',
  laterPrices: ['queue.publish', 'realtime.publish'],
  errors: ['RECEIVER_NOT_FOUND', 'NOT_FOUND', 'STATE_CONFLICT', 'INSUFFICIENT_CREDIT'],
  examples: [
    {
      title: 'The request once more',
      before: [
        { capability: 'queue.create', input: { name: 'github' } },
        {
          capability: 'account.webhooks.receive.create',
          input: { name: 'our repository', verify: { scheme: 'github' }, to: { queue: 'github' } },
        },
        { capability: 'account.webhooks.receive.test', input: { receiver_id: '$1.receiver_id', event: 'push' } },
      ],
      input: { receiver_id: '$1.receiver_id', request_id: '$2.request_id' },
    },
  ],
  run: ({ ctx, input }) =>
    runOutside(ctx, async () => {
      const { db } = ctx.core;
      const receiver = await requireRow(receivers, db, ctx, input.receiver_id);
      const { receiver_id } = receiver;
      const { request_id } = input;
      const request = await findReceived(db, ctx.accountId, receiver_id, request_id);
      if (request === null) throw problem('NOT_FOUND', { message: 'The request is not listed.', param: 'request_id' });
      if (request.message === null) {
        throw problem('STATE_CONFLICT', {
          message: 'The content of the request was too long to be kept.',
          param: 'request_id',
        });
      }
      const message_id = await publishFor(ctx, receiver, request.event, new JsonText(request.message));
      return { receiver_id, request_id, message_id };
    }),
});
