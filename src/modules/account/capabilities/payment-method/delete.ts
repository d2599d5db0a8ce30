import Type from 'typebox';
import { runOutside } from '../../../../core/idempotency/outside.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { deleteMethod } from '../../../../payments/methods/remove.ts';
import { problem } from '../../problems.ts';
import { attached, methodIdField } from './schemas.ts';

export const paymentMethodDelete = defineCapability()({
  method: 'DELETE',
  path: '/v1/account/payment_method/delete/{payment_method_id}',
  summary: 'Deletes a payment method, here and at the payment provider.',
  description:
    'Refused with 409 while auto-recharge or a subscription uses it, as the default too. When it was the default, the oldest that is left ' +
    'becomes it. When the provider does not answer it is of no use any more all the same: repeat the call.',
  keywords: ['remove card', 'delete payment method'],
  input: Type.Object({ payment_method_id: methodIdField }),
  output: Type.Object({
    payment_method_id: Type.String({ description: 'Id of the payment method.' }),
    deleted: Type.Boolean({ description: 'Always true.' }),
  }),
  gates: ['recent_sign_in'],
  errors: ['PAYMENT_METHOD_NOT_FOUND', 'STATE_CONFLICT', 'VENDOR_ERROR', 'VENDOR_DOWN'],
  examples: [
    {
      title: 'The only one',
      before: attached,
      input: { payment_method_id: '$1.items[0].payment_method_id' },
      expect: { deleted: true },
    },
  ],
  async run({ ctx, input: { payment_method_id } }) {
    return runOutside(ctx, async (enter) => {
      if (!(await deleteMethod(ctx.core, ctx.accountId, enter, payment_method_id)))
        throw problem('PAYMENT_METHOD_NOT_FOUND');
      return { payment_method_id, deleted: true };
    });
  },
});
