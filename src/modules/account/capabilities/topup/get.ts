import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import { topupRecord } from '../../../../payments/topups/record.ts';
import { findTopup } from '../../../../payments/topups/store.ts';
import { problem } from '../../problems.ts';
import { topupIdField, topupSchema } from './schemas.ts';

export const topupGet = defineCapability()({
  method: 'GET',
  path: '/v1/account/topup/get/{topup_id}',
  summary: 'Shows a top-up.',
  description:
    'Where it stands, with its link while it can be paid. What the provider says is looked at when it tells, when the payer comes back, ' +
    'and by a schedule: after 1, 5 and 15 minutes, then hourly.',
  keywords: ['payment status', 'has the top-up been paid'],
  input: Type.Object({ topup_id: topupIdField }),
  output: topupSchema,
  errors: ['TOPUP_NOT_FOUND'],
  examples: [
    {
      title: 'One that nobody has paid yet',
      before: [{ capability: 'account.topup', input: { amount_usd: 20 } }],
      input: { topup_id: '$0.topup_id' },
      expect: { status: 'pending', amount_usd: 20 },
    },
  ],
  async run({ ctx, input }) {
    const row = await findTopup(ctx.core.db, ctx.accountId, input.topup_id);
    if (row === null) throw problem('TOPUP_NOT_FOUND');
    return { data: topupRecord(row) };
  },
});
