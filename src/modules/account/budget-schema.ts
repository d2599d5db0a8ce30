import Type from 'typebox';
import { instant } from '../../kit/fields.ts';
import { usdField, usdOrNull } from './list-fields.ts';

export const budgetSchema = Type.Object(
  {
    period: Type.Unsafe<'daily' | 'monthly' | null>({
      type: ['string', 'null'],
      enum: ['daily', 'monthly', null],
      description:
        'Calendar day or month in UTC; null when no budget was ever set: the figures are then those of the month.',
    }),
    hard_cap_usd: usdOrNull('Most that billable calls may spend in a window; null: no cap.'),
    alert_threshold_usd: usdOrNull(
      'Spending that triggers the event wallet.low_balance with reason budget_alert; null: none.',
    ),
    used_usd: usdField('Charged in this window.'),
    held_usd: usdField('Reserved in this window for work that is running.'),
    remaining_usd: usdOrNull('What the cap leaves; null without a cap.'),
    window_start: instant('Start of the window.'),
    window_end: instant('End of the window: spending counts from zero again.'),
    exceeded: Type.Boolean({
      description: 'Whether the cap is used up: billable calls answer 402 until the window ends.',
    }),
  },
  { title: 'Budget' },
);
