import Type from 'typebox';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { instant } from '../../../../kit/fields.ts';
import { iso } from '../../../../lib/time.ts';
import { askForEmail, bindingMs } from '../../../../people/email-binding.ts';
import { problem } from '../../problems.ts';

const emailField = Type.String({
  format: 'email',
  minLength: 3,
  maxLength: 254,
  description: 'The address, at most 254 characters.',
});

export const emailBind = defineCapability()({
  method: 'POST',
  path: '/v1/account/email/bind',
  summary: 'Mails a code that binds an e-mail address to the account.',
  description:
    'The mail has a code of six digits for account.email.verify, and a link where a person confirms instead. Both work once, for ' +
    `${bindingMs / 60_000} minutes; a further call makes the ones before useless. Whoever pays in must have bound an address.`,
  keywords: ['set email address', 'link e-mail', 'send confirmation mail'],
  input: Type.Object({ email: emailField }),
  output: Type.Object({
    email: Type.String({ description: 'Where the mail goes.' }),
    expires_at: instant('Until when code and link work.'),
  }),
  limits: { mails: '5 an hour, for an account and for an address.' },
  examples: [{ title: 'Mailed', input: { email: 'ada@example.com' } }],
  run: ({ ctx, input: { email } }) =>
    runWrite(ctx, async (tx) => {
      const asked = await askForEmail(tx, { accountId: ctx.accountId, email, baseUrl: ctx.core.baseUrl });
      if ('expiresAtMs' in asked) return { email, expires_at: iso(asked.expiresAtMs) };
      throw problem('RATE_LIMITED', {
        ...asked,
        message: 'No more than 5 mails an hour are sent for an account, or to an address.',
      });
    }),
});
