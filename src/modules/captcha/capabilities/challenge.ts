// Challenges of ALTCHA v2: parameters under two MACs of the account. No challenge is stored: the id, action, page and expiry that its solution
// is checked against are signed within it.
import { randomInt } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { clockNow } from '../../../core/database-clock.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { expiresField } from '../../../kit/fields.ts';
import type { CallContext } from '../../../kit/services.ts';
import { newId } from '../../../lib/ids.ts';

export const difficulties = ['easy', 'normal', 'hard'] as const;
/** Rounds of PBKDF2 a try, and between how many tries the answer lies. In Node about 0.1, 0.7 and 3.5 s of one core. */
const efforts = {
  easy: { cost: 1_000, tries: [500, 1_000] },
  normal: { cost: 5_000, tries: [500, 1_000] },
  hard: { cost: 5_000, tries: [2_500, 5_000] },
} as const;

const word = (pattern: string, maxLength: number, description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, pattern, description }));
const lifetime = { min: 60, max: 3_600, usual: 600 };
export const wish = Type.Object({
  action: word('^[A-Za-z0-9_./:-]+$', 64, 'What is protected, such as `signup`.'),
  difficulty: Type.Optional(Type.Enum([...difficulties], { description: 'Work of the solver; normal when not sent.' })),
  hostname: word('^[A-Za-z0-9._:\\[\\]-]+$', 253, 'Host of the page that shows the form.'),
  expires_seconds: expiresField(lifetime, 'How long a solution counts.'),
});

/** What is signed with a challenge, in `parameters.data`. `created`: epoch seconds. */
export interface ChallengeData extends Pick<Static<typeof wish>, 'action' | 'hostname'> {
  readonly id: string;
  readonly created: number;
  readonly difficulty: (typeof difficulties)[number];
}

/** One secret signs the parameters, the other the key that a solver must find: so checking a solution derives nothing. */
export function signingSecrets({ core: { secrets }, accountId }: Pick<CallContext, 'core' | 'accountId'>) {
  return {
    hmacSignatureSecret: secrets.derive('captcha-challenge', 32, accountId).toString('hex'),
    hmacKeySignatureSecret: secrets.derive('captcha-solution', 32, accountId).toString('hex'),
  };
}

const parameters = Type.Object({}, { additionalProperties: true, description: 'What the solver works with.' });
const signature = Type.String({ description: 'MAC of the parameters.' });

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
  input: wish,
  output: Type.Object({
    challenge_id: Type.String({ description: 'ID of the challenge, `cap_…`; verify and events name it.' }),
    challenge: Type.Object({ parameters, signature }, { description: "As ALTCHA's widget and libraries take it." }),
  }),
  examples: [{ title: 'For a sign-up form', input: { action: 'signup' } }],
  async run({ ctx, input: { difficulty = 'normal', expires_seconds: expiresSeconds = lifetime.usual, ...page } }) {
    const { cost, tries } = efforts[difficulty];
    const created = Math.floor((await clockNow(ctx.core.db)) / 1_000);
    const data = { id: newId('cap_'), created, difficulty, ...page };
    const { createChallenge } = await import('altcha-lib');
    const { deriveKey } = await import('altcha-lib/algorithms/pbkdf2');
    // Derives one key, in a thread of libuv.
    const challenge = await createChallenge({
      ...signingSecrets(ctx),
      expiresAt: created + expiresSeconds,
      data,
      algorithm: 'PBKDF2/SHA-256',
      deriveKey,
      cost,
      counter: randomInt(tries[0], tries[1] + 1),
    });
    return { data: { challenge_id: data.id, challenge } };
  },
});
