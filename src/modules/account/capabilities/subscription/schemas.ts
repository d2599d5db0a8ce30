// Schema of a subscription in calls and, without the payment link, in events (payments/subscriptions/record.ts).
import Type from 'typebox';
import { instant, instantOrNull, orNull } from '../../../../kit/fields.ts';
import { usdField, usdOrNull } from '../../list-fields.ts';

const word = (words: readonly string[], description: string) =>
  orNull<string>({ type: 'string', enum: [...words] }, description);

export const subscriptionFields = {
  subscription_id: orNull<string>({ type: 'string' }, 'Id of the subscription, `bsub_…`; null: there is none.'),
  status: Type.Enum(['none', 'pending', 'active', 'past_due', 'cancelled'], {
    description:
      '`none`: the account never had one. `pending`: nobody has paid at its page yet. `past_due`: a renewal failed; the tier stays for ' +
      '7 days, in which it is tried again. `cancelled`: it has ended, and its tier with it.',
  }),
  tier: word(['pro', 'enterprise'], 'Tier that it buys.'),
  label: word(['pro', 'team', 'enterprise'], 'Name under which it was bought.'),
  price_usd: usdOrNull('What a month costs, USD.'),
  current_period_start: instantOrNull('Start of the month that runs; null before the first.'),
  current_period_end: instantOrNull('Its end: the renewal, or the end where it is cancelled.'),
  cancel_at_period_end: Type.Boolean({ description: 'Whether it ends with its period; resume takes it back.' }),
  last_invoice: Type.Unsafe<{
    status: string;
    amount_usd: number;
    at: string;
    next_attempt_at: string | null;
    refunded_usd: number;
    dispute: string | null;
  } | null>({
    type: ['object', 'null'],
    description: 'The newest invoice; null: none yet.',
    required: ['status', 'amount_usd', 'at', 'next_attempt_at', 'refunded_usd', 'dispute'],
    properties: {
      status: Type.Enum(['open', 'paid', 'failed', 'review'], {
        description:
          'Whether it is paid. `review`: something else than the price was paid, which counts as not paid until the operator has seen to it.',
      }),
      amount_usd: usdField('What it is about.'),
      at: instant('When it was made.'),
      next_attempt_at: instantOrNull('When it is tried again; null: it is not.'),
      refunded_usd: usdField('What was paid back of it.'),
      dispute: word(['open', 'won', 'lost'], 'Its dispute; null: none. One that is lost ends the subscription.'),
    },
  }),
  test_mode: Type.Boolean({ description: 'Whether it is paid with test money.' }),
};

export const subscriptionSchema = Type.Object(
  {
    ...subscriptionFields,
    pay_url: orNull<string>({ type: 'string' }, 'Where a person pays the renewal that failed; null: nothing is owed.'),
  },
  { title: 'TierSubscription' },
);
