import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { CODES_PER_HOUR, TRIES } from '../limits.ts';
import { codeFields, textField, vendorField, verificationSchema } from '../schemas.ts';
import type { SmsState } from '../state.ts';
import { startVerification } from '../verify/start.ts';
import { carrierErrors } from './send.ts';

export const verifyStart = defineCapability<SmsState>()({
  method: 'POST',
  path: '/v1/sms/verify/start',
  summary: 'Sends a code that proves a phone number.',
  description:
    'Makes a code of digits and sends it by SMS, or by e-mail; check says whether a person knows it. The code is stored as a keyed hash and ' +
    `shown nowhere, except in the text that the sandbox captured. At most ${CODES_PER_HOUR} codes an hour go to one number, and ${TRIES} tries end one. ` +
    'Priced as the message that carries it: sms.send, or email.send of the account.',
  keywords: ['one-time password', 'otp sms', '2fa code', 'verify phone number', 'sign in by code'],
  input: Type.Object({
    to: Type.String({
      minLength: 3,
      maxLength: 320,
      pattern: '^[!-~]+$',
      description: 'Phone number in E.164; with channel email an address.',
    }),
    channel: Type.Optional(
      Type.Enum(['sms', 'email'], { default: 'sms', description: 'How the code is sent; `sms` when not sent.' }),
    ),
    ...codeFields,
    text: Type.Optional(
      textField('The message, with `{code}` where the code goes; "{code} is your verification code." when not sent.'),
    ),
    from: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 320,
        pattern: '^[ -~]+$',
        description:
          'Sender: as in sms.send, or the address that mails are from; of the first verified domain when not sent.',
      }),
    ),
    vendor: vendorField,
  }),
  output: verificationSchema,
  price: 'sms.send',
  errors: [...carrierErrors, 'DOMAIN_NOT_VERIFIED', 'EMAIL_SEND_FAILED'],
  events: ['sms.queued', 'sms.sent', 'sms.failed', 'wallet.low_balance'],
  limits: {
    codes: `${CODES_PER_HOUR} an hour to one number or address, whoever asks; then 429. RATE_LIMITS=off does not lift it.`,
    prefix:
      'Codes an hour of an account to numbers of one calling code: standard 60, pro 600, enterprise 6,000; then 429.',
  },
  examples: [
    {
      title: 'A code to a number',
      input: { to: '+12025550130', text: 'Sign in to Acme with {code}.' },
      expect: { status: 'pending', channel: 'sms', attempts_left: TRIES },
    },
  ],
  run: ({ ctx, input, state }) => startVerification(ctx, state, input),
});
