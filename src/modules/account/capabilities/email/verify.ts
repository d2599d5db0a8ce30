import Type from 'typebox';
import { runOutside } from '../../../../core/idempotency/outside.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { bindEmail } from '../../../../people/email-binding.ts';
import { problem } from '../../problems.ts';
import { accountSchema, profileRecord } from '../profile/schemas.ts';

export const emailVerify = defineCapability()({
  method: 'POST',
  path: '/v1/account/email/verify',
  summary: 'Binds the e-mail address that the code was mailed to.',
  description:
    'Answers the account with its bound address. A code that is wrong, already used or expired is VERIFICATION_FAILED; after five wrong ones ask for ' +
    'another with account.email.bind.',
  keywords: ['confirm email address', 'verification code', 'mail otp'],
  input: Type.Object({
    code: Type.String({ pattern: '^[0-9]{6}$', writeOnly: true, description: 'The six digits of the mail.' }),
  }),
  output: accountSchema,
  errors: ['VERIFICATION_FAILED'],
  events: ['account.updated'],
  examples: [
    {
      title: 'The code of the mail',
      before: [{ capability: 'account.email.bind', input: { email: 'ada@example.com' } }],
      input: { code: '$0.code' },
      expect: { email: 'a•••@example.com', email_bound: true },
    },
  ],
  // A wrong code counts: it must be written although the call fails.
  run: ({ ctx, input: { code } }) =>
    runOutside(ctx, async (enter) => {
      const { accountId, requestId } = ctx;
      const account = await ctx.core.db.transaction(async (tx) => {
        await enter(tx);
        return bindEmail(tx, { accountId, secret: code, requestId });
      });
      if (account === null) throw problem('VERIFICATION_FAILED', { param: 'code' });
      return profileRecord(account);
    }),
});
