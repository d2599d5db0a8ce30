// Schema of a top-up in calls and events (payments/topups/record.ts).
import Type from 'typebox';
import { instant, instantOrNull, orNull, textOrNull } from '../../../../kit/fields.ts';
import { currencies } from '../../../../vendors/payments/port.ts';
import { usdField } from '../../list-fields.ts';

export const topupIdField = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Id of the top-up, `top_…`, as topup and list return it.',
});

export const topupStatuses = ['pending', 'review', 'succeeded', 'failed', 'expired'] as const;

export const disputeField = Type.Unsafe<{ status: string; amount_usd: number } | null>({
  type: ['object', 'null'],
  description: 'The newest dispute of the payment; null: none. While it is open the wallet is frozen.',
  required: ['status', 'amount_usd'],
  properties: {
    status: Type.Enum(['open', 'won', 'lost'], { description: 'Won: for this account.' }),
    amount_usd: usdField('What it is about.'),
  },
});

export const topupFields = {
  topup_id: Type.String({ description: 'Id of the top-up.' }),
  status: Type.Enum([...topupStatuses], {
    description:
      '`pending` until somebody has paid; a declined card leaves it so. `review`: provider or operator examine it, nothing is credited ' +
      'yet. `succeeded`: credited, for good. `failed`, `expired` (nobody paid within a day): nothing was credited; money that arrives ' +
      'all the same is.',
  }),
  amount_usd: usdField('What is credited, exactly.'),
  currency: Type.Enum([...currencies], { description: 'What is charged.' }),
  charge_amount: Type.Number({ description: 'How much is charged, in major units of the currency.' }),
  fx_rate: Type.Number({ description: 'Units of the currency per USD, as it was when the top-up was begun.' }),
  expires_at: instant('Until when the link can be used.'),
  credited_at: instantOrNull('When it was credited; null when it was not.'),
  grant_id: textOrNull('The credit in the wallet; null when there is none.'),
  failure_code: textOrNull(
    'Why it failed: the provider’s word such as card_declined, or expired, rejected (by the operator). While pending: of the last try.',
  ),
  review_reason: orNull<string>(
    { type: 'string', enum: ['provider', 'mismatch', 'amount'] },
    'Why it is under review: by the provider, because another amount or currency was paid, or for its amount. Null when it is not.',
  ),
  refunded_usd: usdField('What of it went back to the payer.'),
  dispute: disputeField,
  test_mode: Type.Boolean({ description: 'Whether the money is test money.' }),
  provider: Type.Enum(['stripe', 'sandbox'], { description: 'Who takes the money.' }),
  created_at: instant('When it was begun.'),
};

export const topupSchema = Type.Object(
  {
    ...topupFields,
    checkout_url: textOrNull('Hosted page where a person pays: hand it to one. Null once it is of no use any more.'),
  },
  { title: 'Topup' },
);
