import Type from 'typebox';
import { runOutside } from '../../../../core/idempotency/outside.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { orNull } from '../../../../kit/fields.ts';
import { nanosOfUsd } from '../../../../lib/money.ts';
import { requireProvider } from '../../../../payments/require-provider.ts';
import { createTopup } from '../../../../payments/topups/create.ts';
import { topupRecord } from '../../../../payments/topups/record.ts';
import { invalidField } from '../../../../problems/problem.ts';
import { currencies } from '../../../../vendors/payments/port.ts';
import { problem } from '../../problems.ts';
import { checkReturnUrl, returnUrlField } from '../../return-url.ts';
import { topupSchema } from './schemas.ts';

const replay = { keepDays: 30 } as const;
const USD_DEFAULT = 10;
const USD_MIN = 5;
const USD_MAX = 10_000;
const CENT_NANOS = 10_000_000n;

const amountField = (description: string) =>
  orNull<number>({ type: 'number', minimum: 0, maximum: 1_000_000 }, description);

export const topup = defineCapability()({
  method: 'POST',
  path: '/v1/account/topup',
  summary: 'Begins a top-up: answers a link where a person pays.',
  description:
    'Nothing is charged by the call and nothing is credited yet. Hand checkout_url to a person, who pays on the hosted page within a day; ' +
    'then account.topup.get shows `succeeded`, topup.succeeded is told, and the wallet has amount_usd more, which never expires. The ' +
    'answer of a page the payer comes back to proves nothing. Credit pays what the account owes (debt_usd of account.balance) first.',
  keywords: ['add credit', 'buy credit', 'pay', 'checkout link', 'deposit money', 'recharge wallet', 'add money'],
  input: Type.Object({
    amount_usd: Type.Optional(
      amountField(`Credit to buy, ${USD_MIN} to ${USD_MAX} USD in whole cents; ${USD_DEFAULT} when absent.`),
    ),
    amount: Type.Optional(amountField('The same as amount_usd, under its earlier name.')),
    currency: Type.Optional(
      Type.String({
        minLength: 3,
        maxLength: 3,
        default: 'USD',
        description: `What is charged: ${currencies.join(', ')}, as far as this service has a rate for it. The wallet is in USD.`,
      }),
    ),
    return_url: Type.Optional(returnUrlField),
    save_payment_method: Type.Optional(
      Type.Boolean({ default: false, description: 'Keeps the card for automatic recharges.' }),
    ),
  }),
  output: topupSchema,
  gates: ['email', 'kyc'],
  replay,
  errors: ['UNSUPPORTED_CURRENCY', 'QUOTA_EXCEEDED', 'VENDOR_ERROR', 'VENDOR_DOWN'],
  limits: { pending: '20 unpaid top-ups.' },
  examples: [
    {
      title: 'Charged in yuan',
      input: { return_url: 'https://example.org/paid', amount_usd: 25, currency: 'CNY' },
      expect: { status: 'pending', amount_usd: 25, currency: 'CNY', credited_at: null },
    },
    { title: 'Ten dollars', input: {}, expect: { amount_usd: 10, currency: 'USD', charge_amount: 10 } },
  ],
  async run({ ctx, input }) {
    const { payments } = ctx.core;
    requireProvider(payments);
    const order = {
      amountNanos: amountOf(input),
      currency: currencyOf(input.currency ?? 'USD', payments.fxRatesNanos),
      saveMethod: input.save_payment_method ?? false,
      returnUrl: checkReturnUrl(input.return_url ?? null, ctx.core.baseUrl),
    };
    return runOutside(
      ctx,
      async (enter) => topupRecord(await createTopup(ctx.core, ctx.accountId, enter, order)),
      replay,
    );
  },
});

function amountOf(input: { amount?: number | null; amount_usd?: number | null }): bigint {
  const { amount_usd: amountUsd = null, amount = null } = input;
  if (amountUsd !== null && amount !== null && amount !== amountUsd)
    throw invalidField('amount', 'conflict', 'amount and amount_usd must be the same: send one of them.');
  const param = amountUsd === null && amount !== null ? 'amount' : 'amount_usd';
  const usd = amountUsd ?? amount ?? USD_DEFAULT;
  const nanos = nanosOfUsd(usd);
  if (nanos === null || nanos % CENT_NANOS !== 0n)
    throw invalidField(param, 'multipleOf', `${param} must be in whole cents.`);
  if (usd < USD_MIN || usd > USD_MAX)
    throw invalidField(param, 'range', `${param} must be from ${USD_MIN} to ${USD_MAX} USD.`);
  return nanos;
}

function currencyOf(sent: string, rates: Readonly<Record<string, bigint>>) {
  const found = currencies.find((currency) => currency === sent && rates[currency] !== undefined);
  if (found !== undefined) return found;
  const offered = currencies.filter((currency) => rates[currency] !== undefined);
  throw problem('UNSUPPORTED_CURRENCY', {
    message: `Nothing is charged in ${JSON.stringify(sent)} here, only in ${offered.join(', ')}.`,
    param: 'currency',
  });
}
