import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { issueChallenge } from '../challenge.ts';
import { issuedSchema, wishFields } from '../schemas.ts';

export const challenge = defineCapability()({
  method: 'GET',
  path: '/v1/captcha/challenge',
  summary: 'Makes a challenge that costs its solver processor time.',
  description:
    "A proof of work in ALTCHA's form (v2, PBKDF2/SHA-256): the browser solves it unseen in about a second, and your server sends the solution to " +
    'captcha.verify. It makes abuse in bulk expensive; it does not tell people from programs. Web pages load it from /v1/captcha/altcha?key= with a ' +
    'public key, which has this scope alone.',
  keywords: ['bot protection', 'proof of work', 'stop spam signups', 'altcha challenge'],
  publishable: true,
  input: Type.Object(wishFields),
  output: issuedSchema,
  limits: { time: 'A challenge counts for ttl_seconds, 10 minutes when not sent.' },
  examples: [
    { title: 'For a sign-up form', input: { action: 'signup' } },
    { title: 'Cheap to solve', input: { difficulty: 'easy', ttl_seconds: 60 } },
  ],
  run: async ({ ctx, input }) => ({ data: await issueChallenge(ctx, input) }),
});
