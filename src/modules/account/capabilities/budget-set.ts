import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { budgetRecord } from '../../../core/wallet/ledger/read.ts';
import { setBudget } from '../../../core/wallet/limits/budget.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { budgetSchema } from '../budget-schema.ts';
import { nanosField } from '../schemas.ts';

const amountField = (description: string) =>
  Type.Optional(
    Type.Unsafe<number | null>({ type: ['number', 'null'], minimum: 0, maximum: 9_000_000_000, description }),
  );

export const budgetSet = defineCapability()({
  method: 'PUT',
  path: '/v1/account/budget/set',
  summary: 'Sets the budget of the account.',
  description:
    'Replaces the whole budget: a field that is absent or null is off afterwards. Billable calls that would take the window above ' +
    'hard_cap_usd answer 402 INSUFFICIENT_CREDIT with code_detail budget_daily or budget_monthly until the window ends, ' +
    'which error.shortfall names; a cap of 0 blocks them all. What the current window has already used counts at once. Crossing alert_threshold_usd ' +
    'sends wallet.low_balance with reason budget_alert, once a window; nothing is blocked by it.',
  keywords: [
    'limit spending',
    'monthly spend cap',
    'daily budget',
    'cost guard',
    'do not spend more than',
    'dollars a day',
  ],
  input: Type.Object({
    period: Type.Enum(['daily', 'monthly'], {
      description: 'Window that the amounts are for: the calendar day or month in UTC.',
    }),
    hard_cap_usd: amountField(
      'Most that billable calls may spend in a window, in steps of 0.000000001 USD. Null or absent: no cap; 0: block everything.',
    ),
    alert_threshold_usd: amountField(
      'Spending in a window that is reported, in steps of 0.000000001 USD. Null or absent: no report.',
    ),
  }),
  output: budgetSchema,
  examples: [
    {
      title: 'At most 5 USD a day, told at 4',
      input: { period: 'daily', hard_cap_usd: 5, alert_threshold_usd: 4 },
      expect: { period: 'daily', hard_cap_usd: 5, alert_threshold_usd: 4 },
    },
    {
      title: 'No cap',
      input: { period: 'monthly' },
      expect: { hard_cap_usd: null, remaining_usd: null, exceeded: false },
    },
  ],
  async run({ ctx, input }) {
    const budget = {
      period: input.period as 'daily' | 'monthly',
      capNanos: nanosField('hard_cap_usd', input.hard_cap_usd ?? null),
      alertNanos: nanosField('alert_threshold_usd', input.alert_threshold_usd ?? null),
    };
    return runWrite(ctx, async (tx) => {
      return budgetRecord(await setBudget(tx, ctx.accountId, budget));
    });
  },
});
