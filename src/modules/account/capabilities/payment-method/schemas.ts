// Schema of a payment method in calls (payments/methods/store.ts).
import Type from 'typebox';
import { instant, textOrNull, wholeOrNull } from '../../../../kit/fields.ts';

export const methodIdField = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Id of the payment method, `pm_…`, as list returns it.',
});

export const methodSchema = Type.Object(
  {
    payment_method_id: Type.String({ description: 'Id of the payment method.' }),
    type: Type.String({ description: 'Kind, such as card.' }),
    brand: textOrNull('Brand of the card; null for what has none.'),
    last4: textOrNull('Last four digits of the card.'),
    exp_month: wholeOrNull('Month in which it expires, 1 to 12.'),
    exp_year: wholeOrNull('Year in which it expires.'),
    is_default: Type.Boolean({ description: 'Whether it is charged where no other one is named.' }),
    test_mode: Type.Boolean({ description: 'Whether it pays with test money.' }),
    created_at: instant('When it was kept.'),
  },
  { title: 'PaymentMethod' },
);

/** How examples come by one: a person leaves it at the page of attach. */
export const attached = [
  { capability: 'account.payment_method.attach', input: {} },
  { capability: 'account.payment_method.list', input: {} },
] as const;
