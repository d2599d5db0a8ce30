import Type from 'typebox';
import { budgetOf } from '../../../core/wallet/ledger/read.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { budgetSchema } from '../budget-schema.ts';

export const budgetGet = defineCapability()({
  method: 'GET',
  path: '/v1/account/budget/get',
  summary: 'Shows the budget and what is used of it.',
  description:
    'The cap of the account, the alert threshold, and what the current window (a UTC calendar day or month) has used and holds.',
  keywords: ['spending limit shown', 'budget left', 'budget usage'],
  input: Type.Object({}),
  output: budgetSchema,
  examples: [{ title: 'The budget', input: {} }],
  async run({ ctx }) {
    return { data: await budgetOf(ctx.core.db, ctx.accountId) };
  },
});
