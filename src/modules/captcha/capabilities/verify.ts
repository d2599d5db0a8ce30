import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { PAYLOAD_CHARACTERS_MAX } from '../limits.ts';
import { actionField, leastDifficultyField, verificationSchema } from '../schemas.ts';
import { verify as verifyPayload } from '../verify.ts';

export const verify = defineCapability()({
  method: 'POST',
  path: '/v1/captcha/verify',
  summary: 'Checks a solved challenge, which counts once.',
  description:
    'Send what the form brought in its field `altcha`. Let the visitor go on only when success is true. A wrong, late or repeated solution is an ' +
    'answer, not an error, and costs the same. Name the action of the form, so that a solution made elsewhere does not count.',
  keywords: ['verify captcha', 'siteverify', 'check altcha payload'],
  input: Type.Object({
    payload: Type.String({
      ...{ minLength: 1, maxLength: PAYLOAD_CHARACTERS_MAX },
      description: 'Base64 of {challenge, solution}, as the widget puts it into the form.',
    }),
    action: actionField,
    difficulty: leastDifficultyField,
  }),
  output: verificationSchema,
  price: 'captcha.verify',
  events: ['captcha.verified', 'captcha.failed', 'wallet.low_balance'],
  examples: [
    {
      title: 'Not a solution',
      input: { payload: 'bm90IGEgc29sdXRpb24=', action: 'signup' },
      expect: { reason: 'invalid' },
    },
  ],
  run: ({ ctx, input: { payload, ...expected } }) => verifyPayload(ctx, payload, expected),
});
