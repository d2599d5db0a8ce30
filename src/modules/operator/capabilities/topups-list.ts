import Type from 'typebox';
import { listPage } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, limitField, pageOf } from '../../../kit/fields.ts';
import { listTopups, listTopupsInReview } from '../../../payments/topups/store.ts';
import { accountIdField, topupSchema, topupView } from '../schemas.ts';

export const topupsList = defineCapability()({
  method: 'GET',
  path: '/v1/operator/topups/list',
  summary: 'Lists the top-ups that wait for the operator, or all of one account.',
  description:
    'For the operator of the service only. Those under review, of every account, newest first; with account_id all top-ups of that ' +
    'account, as a refund asks for.',
  keywords: ['payments under review', 'pending top-ups', 'fraud review'],
  input: Type.Object({ account_id: Type.Optional(accountIdField), cursor: cursorField, limit: limitField }),
  output: pageOf(topupSchema),
  examples: [{ title: 'What is to be decided', input: {}, expect: { has_more: false } }],
  async run({ ctx, input: { account_id: accountId, cursor, limit } }) {
    const { db } = ctx.core;
    const shown = await listPage(
      ctx,
      { cursor, limit },
      {
        filters: [accountId ?? ''],
        read: (before, rows) =>
          accountId === undefined
            ? listTopupsInReview(db, before, rows)
            : listTopups(db, accountId, before, rows, null),
        positionOf: (row) => row.topup_id,
      },
    );
    return { data: { ...shown, items: shown.items.map(topupView) } };
  },
});
