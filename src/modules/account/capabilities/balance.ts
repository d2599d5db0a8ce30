import Type from 'typebox';
import { balanceOf } from '../../../core/wallet/ledger/read.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { instant, textOrNull } from '../../../kit/fields.ts';
import { usdField } from '../list-fields.ts';

export const balance = defineCapability()({
  method: 'GET',
  path: '/v1/account/balance',
  summary: 'Shows the balance of the wallet.',
  description:
    'What can be spent now, what is held for running work, and credit that will expire. balance_usd is exact at the moment of the ' +
    'answer: held and expired credit is not in it. Promotional credit is spent before paid credit, the earliest expiry first. A ' +
    'billable call that the balance does not cover answers 402 INSUFFICIENT_CREDIT and has no effect.',
  keywords: ['wallet balance', 'remaining credit', 'how much money is left'],
  input: Type.Object({}),
  output: Type.Object(
    {
      currency: Type.String({ description: 'Always USD.' }),
      balance_usd: usdField('What billable calls can spend now: promo_usd + paid_usd.'),
      held_usd: usdField('Reserved for work that is running, on top of the balance.'),
      promo_usd: usdField('Promotional part of the balance.'),
      paid_usd: usdField('Paid part of the balance.'),
      test_usd: usdField('Part of the balance that is test money: it ends when real payments are switched on.'),
      debt_usd: usdField(
        'Taken back beyond what the wallet had, by a refund or a dispute: the next credit pays it first.',
      ),
      expiring: Type.Array(
        Type.Object({
          amount_usd: usdField('Spendable amount that ends then.'),
          expires_at: instant('When it ends.'),
        }),
        {
          description: 'Credit with an end, the earliest first.',
        },
      ),
      trial: Type.Object(
        {
          active: Type.Boolean({ description: 'Whether sign-up credit is left.' }),
          granted_usd: usdField('Sign-up credit that was granted; 0 for accounts without.'),
          remaining_usd: usdField('What is left of it.'),
          expires_at: textOrNull('When it ends or ended; null for accounts without.'),
          withheld_reason: textOrNull(
            'Why none was given: email_sign_up (a provider that vouches for you brings it), no_verified_email, identity_used, ' +
              'email_used, network_limit; null when it was, or none is given here.',
          ),
        },
        { description: 'The credit given at sign-up.' },
      ),
      low_balance: Type.Boolean({
        description: 'Whether the balance is below the larger of 1 USD and 10 % of the last credit.',
      }),
      frozen_reason: textOrNull(
        'Why billable calls are refused altogether: dispute, debt or suspended; null when they are not.',
      ),
      as_of: instant('Moment of the figures.'),
    },
    { title: 'Balance' },
  ),
  examples: [{ title: 'The balance', input: {}, expect: { currency: 'USD', frozen_reason: null } }],
  async run({ ctx }) {
    return { data: await balanceOf(ctx.core.db, ctx.accountId) };
  },
});
