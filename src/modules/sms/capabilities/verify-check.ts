import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { CODE_LENGTH, TRIES } from '../limits.ts';
import { verificationIdField } from '../schemas.ts';
import type { SmsState } from '../state.ts';
import { checkCode } from '../verify/check.ts';

export const verifyCheck = defineCapability<SmsState>()({
  method: 'POST',
  path: '/v1/sms/verify/check',
  summary: 'Checks the code that a person typed.',
  description:
    'Answers `approved` for the right code, once. A wrong one answers `pending` with the tries that are left; after the last it is `failed`, ' +
    'and a new code is needed. Only `approved` lets a person in.',
  keywords: ['check otp', 'validate verification code', 'confirm a phone number'],
  input: Type.Object({
    verification_id: verificationIdField,
    code: Type.String({
      minLength: CODE_LENGTH.min,
      maxLength: CODE_LENGTH.max,
      pattern: '^[0-9]+$',
      writeOnly: true,
      description: 'The digits that the person typed.',
    }),
  }),
  output: Type.Object({
    verification_id: Type.String({ description: 'As sent.' }),
    status: Type.Enum(['approved', 'pending', 'expired', 'failed'], {
      description: '`pending`: the code was wrong, and there are tries left.',
    }),
    attempts_left: Type.Integer({ description: `Tries that are left, of ${TRIES}.` }),
  }),
  errors: ['NOT_FOUND', 'STATE_CONFLICT'],
  examples: [
    {
      title: 'A wrong code, most likely',
      before: [{ capability: 'sms.verify.start', input: { to: '+12025550131' } }],
      input: { verification_id: '$0.verification_id', code: '0000' },
      expect: { status: 'pending', attempts_left: TRIES - 1 },
    },
  ],
  run: ({ ctx, input }) => checkCode(ctx, input.verification_id, input.code),
});
