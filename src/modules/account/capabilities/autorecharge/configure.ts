import Type from 'typebox';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { orNull } from '../../../../kit/fields.ts';
import { nanosOfUsd } from '../../../../lib/money.ts';
import { configureRecharge, rechargeRecord } from '../../../../payments/recharge/configure.ts';
import { invalidField } from '../../../../problems/problem.ts';
import { problem } from '../../problems.ts';
import { nanosField } from '../../schemas.ts';
import { attached } from '../payment-method/schemas.ts';
import { rechargeSchema } from './schemas.ts';

const CENT_NANOS = 10_000_000n;

export const autorechargeConfigure = defineCapability()({
  method: 'PUT',
  path: '/v1/account/autorecharge/configure',
  summary: 'Sets when and how the wallet is recharged by itself.',
  description:
    'Replaces the configuration and enables it, unless enabled is false. Whenever less than trigger_balance can be spent, recharge_amount ' +
    'is charged to the payment method and credited: one charge at a time, a minute apart, within both caps and within the charge limit of ' +
    'the account; not while the account is suspended, frozen or over its budget. A charge that fails is tried again after 1 hour, then 6; ' +
    'the third in a row, or a failure that no later try mends, disables it (autorecharge.failed).',
  keywords: ['automatic top-up', 'auto reload wallet', 'recharge when low', 'low balance refill'],
  input: Type.Object({
    trigger_balance: Type.Number({
      minimum: 0,
      maximum: 1_000_000,
      description:
        'Recharge when less than this can be spent, USD. 0: never, since nothing is spent that is not there.',
    }),
    recharge_amount: Type.Number({
      minimum: 5,
      maximum: 5_000,
      description: 'What is charged and credited each time, USD in whole cents.',
    }),
    payment_method_id: Type.Optional(
      orNull<string>(
        { type: 'string', minLength: 1, maxLength: 200 },
        'What is charged, as account.payment_method.list returns it. Null or absent: the default of the account.',
      ),
    ),
    max_per_day: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, default: 3, description: 'Charges in a UTC day, at most.' }),
    ),
    max_per_month: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000, default: 30, description: 'Charges in a UTC month, at most.' }),
    ),
    enabled: Type.Optional(Type.Boolean({ default: true, description: 'False: nothing is charged any more.' })),
  }),
  output: rechargeSchema,
  gates: ['email'],
  errors: ['PAYMENT_METHOD_REQUIRED', 'PAYMENT_METHOD_NOT_FOUND', 'PAYMENT_DECLINED'],
  examples: [
    {
      title: '25 USD whenever less than 5 are left, twice a day at most',
      before: attached,
      input: { trigger_balance: 5, recharge_amount: 25, max_per_day: 2 },
      expect: { enabled: true, trigger_balance: 5, recharge_amount: 25, max_per_day: 2, max_per_month: 30 },
    },
    {
      title: 'Off',
      input: { trigger_balance: 5, recharge_amount: 25, enabled: false },
      expect: { enabled: false, next_attempt_at: null },
    },
  ],
  async run({ ctx, input }) {
    const { trigger_balance, recharge_amount, payment_method_id = null, max_per_day = 3, max_per_month = 30 } = input;
    const amountNanos = nanosOfUsd(recharge_amount);
    if (amountNanos === null || amountNanos % CENT_NANOS !== 0n)
      throw invalidField('recharge_amount', 'multipleOf', 'recharge_amount must be in whole cents.');
    const order = {
      enabled: input.enabled ?? true,
      trigger_nanos: nanosField('trigger_balance', trigger_balance) as bigint,
      amount_nanos: amountNanos,
      method_id: payment_method_id,
      max_per_day,
      max_per_month,
    };
    const methodUnknown = () => problem('PAYMENT_METHOD_NOT_FOUND', { param: 'payment_method_id' });
    return runWrite(ctx, async (tx) => {
      await configureRecharge(tx, ctx.accountId, order, ctx.core.payments, methodUnknown);
      return rechargeRecord(tx, ctx.accountId);
    });
  },
});
