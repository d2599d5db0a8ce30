import Type from 'typebox';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { findMethod, methodRecord, setDefaultMethod } from '../../../../payments/methods/store.ts';
import { problem } from '../../problems.ts';
import { attached, methodIdField, methodSchema } from './schemas.ts';

export const paymentMethodSetDefault = defineCapability()({
  method: 'POST',
  path: '/v1/account/payment_method/set_default',
  summary: 'Makes a payment method the default of the account.',
  description: 'From now on it is charged wherever no other one is named, by an auto-recharge that names none too.',
  keywords: ['choose default card', 'primary payment method'],
  input: Type.Object({ payment_method_id: methodIdField }),
  output: methodSchema,
  gates: ['recent_sign_in'],
  errors: ['PAYMENT_METHOD_NOT_FOUND'],
  examples: [
    {
      title: 'The first one',
      before: attached,
      input: { payment_method_id: '$1.items[0].payment_method_id' },
      expect: { is_default: true },
    },
  ],
  async run({ ctx, input }) {
    return runWrite(ctx, async (tx) => {
      const method = await findMethod(tx, ctx.accountId, input.payment_method_id);
      if (method === null || method.removed_at !== null) throw problem('PAYMENT_METHOD_NOT_FOUND');
      await setDefaultMethod(tx, ctx.accountId, method.method_id);
      return methodRecord({ ...method, is_default: true });
    });
  },
});
