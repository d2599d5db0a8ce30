// Schemas of auto-recharge and its attempts in calls and events (payments/recharge).
import Type, { type Static } from 'typebox';
import { instant, instantOrNull, textOrNull, wholeOrNull } from '../../../../kit/fields.ts';
import { usdField, usdOrNull } from '../../list-fields.ts';
import { disputeField } from '../topup/schemas.ts';

export const attemptFields = {
  attempt_id: Type.String({ description: 'Id of the attempt.' }),
  status: Type.Enum(['pending', 'succeeded', 'failed'], {
    description: '`pending` while it is not known whether it was paid: no other one begins meanwhile.',
  }),
  amount_usd: usdField('What is charged and credited.'),
  failure_code: textOrNull('Why it failed: the provider’s word, such as card_declined. Null otherwise.'),
  grant_id: textOrNull('The credit in the wallet; null when there is none.'),
  refunded_usd: usdField('What of it went back to the payer.'),
  dispute: disputeField,
  test_mode: Type.Boolean({ description: 'Whether the money is test money.' }),
  at: instant('When it was begun.'),
};

const attempt = Type.Object(attemptFields, { title: 'RechargeAttempt' });

export const rechargeSchema = Type.Object(
  {
    enabled: Type.Boolean({ description: 'Whether the wallet is recharged. Only configure ever enables it.' }),
    trigger_balance: usdOrNull('It is recharged when less than this can be spent, USD. Null: never configured.'),
    recharge_amount: usdOrNull('What is charged and credited each time, USD.'),
    payment_method_id: textOrNull('What is charged; null: the default of the account.'),
    max_per_day: wholeOrNull('Charges in a UTC day, at most.'),
    max_per_month: wholeOrNull('Charges in a UTC month, at most.'),
    charged_today: Type.Integer({ description: 'Charges of this UTC day that succeeded or are not decided yet.' }),
    charged_this_month: Type.Integer({ description: 'The same of this UTC month.' }),
    charged_this_month_usd: usdField('What they come to in this month.'),
    charge_limit_usd: usdField(
      'Most that is charged in a UTC month without the payer. Only a signed-in person changes it.',
    ),
    last_attempt: Type.Unsafe<Static<typeof attempt> | null>({
      ...attempt,
      type: ['object', 'null'],
      description: 'The newest charge.',
    }),
    next_attempt_at: instantOrNull(
      'When the wallet is looked at again: at once, after a failed charge, a cap or a used up budget. Null: there is enough, or a charge is pending.',
    ),
    disabled_reason: textOrNull(
      'Why it was disabled: failed_three_times, or the failure that no later try mends. Null when it was not.',
    ),
  },
  { title: 'AutorechargeConfig' },
);
