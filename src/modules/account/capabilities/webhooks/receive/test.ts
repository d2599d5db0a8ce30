import Type from 'typebox';
import { clockNow } from '../../../../../core/database-clock.ts';
import { runOutside } from '../../../../../core/idempotency/outside.ts';
import { defineCapability } from '../../../../../kit/capability.ts';
import { plainTextOrNull } from '../../../../../kit/fields.ts';
import { requireRow } from '../../../../../kit/resource.ts';
import { newId } from '../../../../../lib/ids.ts';
import { iso } from '../../../../../lib/time.ts';
import { KEPT_MESSAGE_BYTES_MAX, NAMED_CHARACTERS_MAX } from '../../../receivers/limits.ts';
import { messageOf } from '../../../receivers/message.ts';
import { publishFor } from '../../../receivers/publishing.ts';
import { receiverIdField } from '../../../receivers/schemas.ts';
import { receivers, writeRequests } from '../../../receivers/store.ts';

const SAMPLE = { hello: 'receiver' };

export const receiveTest = defineCapability()({
  method: 'POST',
  path: '/v1/account/webhooks/receive/test/{receiver_id}',
  summary: 'Publishes a sample request of a webhook receiver.',
  description:
    'Publishes the message that a verified request with this event and body becomes. Nothing is verified or filtered, and the sample is listed as any ' +
    'request. The caller publishes and pays, as by queue.publish or realtime.publish.',
  keywords: ['test webhook receiver', 'send a sample webhook', 'try incoming webhook'],
  input: Type.Object({
    receiver_id: receiverIdField,
    event: Type.Optional(plainTextOrNull(NAMED_CHARACTERS_MAX, 'What it is about, such as push.')),
    body: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: 'Its body; a small sample when absent.' }),
    ),
  }),
  output: Type.Object({
    receiver_id: Type.String({ description: 'As sent.' }),
    request_id: Type.String({ description: 'As receive/requests lists it.' }),
    message_id: Type.String({ description: 'The message that it became.' }),
  }),
  price: 'free',
  laterPrices: ['queue.publish', 'realtime.publish'],
  errors: ['RECEIVER_NOT_FOUND', 'INSUFFICIENT_CREDIT'],
  examples: [
    {
      title: 'A sample',
      before: [
        { capability: 'queue.create', input: { name: 'github' } },
        {
          capability: 'account.webhooks.receive.create',
          input: { name: 'our repository', verify: { scheme: 'github' }, to: { queue: 'github' } },
        },
      ],
      input: { receiver_id: '$1.receiver_id', event: 'push', body: { ref: 'refs/heads/main' } },
    },
  ],
  run: ({ ctx, input }) =>
    runOutside(ctx, async () => {
      const { accountId, core } = ctx;
      const receiver = await requireRow(receivers, core.db, ctx, input.receiver_id);
      const receivedMs = await clockNow(core.db);
      const { receiver_id: receiverId, name } = receiver;
      const event = input.event ?? null;
      const text = JSON.stringify(input.body ?? SAMPLE);
      const message = messageOf({
        receiverId,
        name,
        headers: { 'content-type': 'application/json' },
        body: { value: null, member: `"body":${text}` },
        named: { event, deliveryId: null },
        receivedAt: iso(receivedMs),
      });
      const messageId = await publishFor(ctx, receiver, event, message);
      const requestId = newId('whq_', receivedMs);
      const isKept = Buffer.byteLength(message.text) <= KEPT_MESSAGE_BYTES_MAX;
      const request = {
        accountId,
        receiverId,
        requestId,
        receivedMs,
        event,
        messageId,
        outcome: 'published',
        status: 202,
        code: null,
        deliveryId: null,
        bytes: Buffer.byteLength(text),
        message: isKept ? message.text : null,
      };
      await writeRequests(core.db, accountId, [request]);
      return { receiver_id: receiverId, request_id: requestId, message_id: messageId };
    }),
});
