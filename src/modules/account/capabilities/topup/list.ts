import Type from 'typebox';
import { listPage } from '../../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { cursorField, limitField, pageOf } from '../../../../kit/fields.ts';
import { topupRecord } from '../../../../payments/topups/record.ts';
import { listTopups } from '../../../../payments/topups/store.ts';
import { topupSchema, topupStatuses } from './schemas.ts';

export const topupList = defineCapability()({
  method: 'GET',
  path: '/v1/account/topup/list',
  summary: 'Lists the top-ups of the account.',
  description: 'All of them, newest first, kept for good.',
  keywords: ['payments made', 'top-up history', 'receipts'],
  input: Type.Object({
    status: Type.Optional(Type.Enum([...topupStatuses], { description: 'Only those with this status.' })),
    cursor: cursorField,
    limit: limitField,
  }),
  output: pageOf(topupSchema),
  examples: [{ title: 'The newest', input: { limit: 5 }, expect: { has_more: false } }],
  async run({ ctx, input: { cursor, limit = 20, status } }) {
    const shown = await listPage(
      ctx,
      { cursor, limit },
      {
        filters: [status ?? ''],
        read: (beforeId, rows) => listTopups(ctx.core.db, ctx.accountId, beforeId, rows, status ?? null),
        positionOf: (row) => row.topup_id,
      },
    );
    return { data: { ...shown, items: shown.items.map(topupRecord) } };
  },
});
