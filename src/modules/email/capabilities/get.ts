import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { emailIdField, emailSchema } from '../schemas.ts';
import { recordOf } from '../sending/order.ts';
import { sentBefore } from './examples.ts';

export const get = defineCapability()({
  method: 'GET',
  path: '/v1/email/get/{email_id}',
  summary: 'Shows an e-mail and what became of it for each recipient.',
  description: 'The content is in email.raw. Mails are kept for 30 days.',
  keywords: ['email status', 'was my mail delivered'],
  input: Type.Object({ email_id: emailIdField }),
  output: emailSchema,
  errors: ['NOT_FOUND'],
  examples: [
    {
      title: 'One that was sent',
      before: [sentBefore],
      input: { email_id: '$0.email_id' },
      expect: { status: 'delivered' },
    },
  ],
  run: async ({ ctx, input }) => ({ data: await recordOf(ctx, ctx.accountId, input.email_id) }),
});
