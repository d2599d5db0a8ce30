import Type from 'typebox';
import { listPage } from '../../../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../../../kit/capability.ts';
import { cursorField, limitField, pageOf } from '../../../../../kit/fields.ts';
import { requireRow } from '../../../../../kit/resource.ts';
import { JsonText, toJson } from '../../../../../lib/json-text.ts';
import { receiverIdField, requestSchema } from '../../../receivers/schemas.ts';
import { listRequests, receivers, requestRecord } from '../../../receivers/store.ts';
import type { AccountState } from '../../../state.ts';

/** Of 64 KiB each. */
const PAGE_MAX = 20;

export const receiveRequests = defineCapability<AccountState>()({
  method: 'GET',
  path: '/v1/account/webhooks/receive/requests/{receiver_id}',
  summary: 'Lists the requests of a webhook receiver.',
  description:
    'The last 1,000 verified requests, the newest first, with what happened and the message that each became. They are listed within a ' +
    'second; those of a process that was killed before are published and not listed. Requests with a wrong signature are not listed.',
  keywords: ['received webhooks', 'webhook request log', 'did the webhook arrive', 'debug incoming webhook'],
  input: Type.Object({ receiver_id: receiverIdField, cursor: cursorField, limit: limitField }),
  output: pageOf(requestSchema),
  errors: ['RECEIVER_NOT_FOUND', 'INVALID_CURSOR'],
  limits: { page: 'At most 20 a page.' },
  examples: [
    {
      title: 'Before the first request',
      before: [
        {
          capability: 'account.webhooks.receive.create',
          input: { name: 'our repository', verify: { scheme: 'github' }, to: { queue: 'github' } },
        },
      ],
      input: { receiver_id: '$0.receiver_id' },
      expect: { items: [], has_more: false },
    },
  ],
  async run({ ctx, input, state }) {
    const { db } = ctx.core;
    await state.received.flushOf(ctx.accountId);
    const { receiver_id: id } = await requireRow(receivers, db, ctx, input.receiver_id);
    const limit = Math.min(input.limit ?? PAGE_MAX, PAGE_MAX);
    const page = await listPage(
      ctx,
      { ...input, limit },
      {
        filters: [id],
        read: (before, rows) => listRequests(db, ctx.accountId, id, before, rows),
        positionOf: (row) => row.request_id,
      },
    );
    const { items, ...rest } = page;
    const records = items.map((row) => requestRecord(row).text);
    return { data: new JsonText(`{"items":[${records.join(',')}],${toJson(rest).slice(1)}`) };
  },
});
