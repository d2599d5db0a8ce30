import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { instantOrNull } from '../../../kit/fields.ts';
import { alsoNamed } from '../../../kit/second-names.ts';
import { nanosOfUsd } from '../../../lib/money.ts';
import { invalidField } from '../../../problems/problem.ts';
import { giveCredit } from '../../../upkeep/operator-acts.ts';
import { act, replay } from '../act.ts';
import { accountIdField, usdField } from '../schemas.ts';

const USD_MAX = 1_000_000;
const DAY_SECONDS = 86_400;
const EXPIRES_SECONDS_MAX = 36_500 * DAY_SECONDS;

export const creditGrant = defineCapability()({
  method: 'POST',
  path: '/v1/operator/credit/grant',
  summary: 'Adds credit to the wallet of an account.',
  description:
    'For the operator of the service only. Nobody pays for it. What the account owes is paid of it first. Send an idempotency key: a ' +
    'repetition within 30 days gives nothing more.',
  keywords: ['give credit', 'free credit', 'add funds for a customer', 'promotional credit'],
  input: Type.Object({
    account_id: accountIdField,
    amount_usd: Type.Number({
      exclusiveMinimum: 0,
      maximum: USD_MAX,
      description: `How much, above 0, at most ${USD_MAX} USD, in steps of 0.000000001.`,
    }),
    kind: Type.Optional(
      Type.Enum(['paid', 'promo'], { default: 'paid', description: '`promo` is spent before `paid` credit.' }),
    ),
    expires_seconds: alsoNamed(
      Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: EXPIRES_SECONDS_MAX,
          description: 'The credit ends after so many seconds; absent: never.',
        }),
      ),
      { expires_days: (days) => (typeof days === 'number' ? days * DAY_SECONDS : days) },
    ),
    note: Type.Optional(
      Type.String({
        maxLength: 500,
        pattern: '^[^\\p{Cc}\\p{Cs}]*$',
        description: 'Kept with the grant, at most 500 characters.',
      }),
    ),
  }),
  output: Type.Object(
    {
      account_id: Type.String({ description: 'Whose wallet.' }),
      grant_id: Type.String({ description: 'Id of the grant.' }),
      kind: Type.Enum(['paid', 'promo'], { description: 'Kind of the credit.' }),
      amount_usd: usdField('What was added.'),
      expires_at: instantOrNull('When it ends; null: never.'),
      balance_usd: usdField('What the account can spend now.'),
    },
    { title: 'OperatorGrant' },
  ),
  replay,
  errors: ['NOT_FOUND', 'QUOTA_EXCEEDED'],
  examples: [
    {
      title: 'Five dollars that end after 30 days',
      before: [{ capability: 'account.get', input: {} }],
      input: {
        account_id: '$0.account_id',
        amount_usd: 5,
        kind: 'promo',
        expires_seconds: 30 * DAY_SECONDS,
        note: 'for the outage',
      },
      expect: { amount_usd: 5, kind: 'promo' },
    },
  ],
  async run({ ctx, input }) {
    const { account_id, amount_usd, kind = 'paid', expires_seconds: seconds, note = null } = input;
    const amountNanos = nanosOfUsd(amount_usd);
    if (amountNanos === null || amountNanos === 0n)
      throw invalidField('amount_usd', 'multipleOf', 'amount_usd must be a multiple of 0.000000001 USD above 0.');
    const expiresInMs = seconds === undefined ? null : seconds * 1_000;
    const credit = { kind: kind as 'paid' | 'promo', amountNanos, expiresInMs, note };
    return act(ctx, account_id, (tx) => giveCredit(tx, account_id, credit));
  },
});
