import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import { listMethods, methodRecord } from '../../../../payments/methods/store.ts';
import { methodSchema } from './schemas.ts';

export const paymentMethodList = defineCapability()({
  method: 'GET',
  path: '/v1/account/payment_method/list',
  summary: 'Lists the payment methods of the account.',
  description:
    'All of them, at most 20, oldest first. Nothing else of a card is stored here; its number never reaches the service.',
  keywords: ['saved cards', 'show payment methods'],
  input: Type.Object({}),
  output: Type.Object({ items: Type.Array(methodSchema, { description: 'The payment methods.' }) }),
  examples: [{ title: 'None yet', input: {}, expect: { items: [] } }],
  async run({ ctx }) {
    return { data: { items: (await listMethods(ctx.core.db, ctx.accountId)).map(methodRecord) } };
  },
});
