// Fields of the captcha module, and its records on the wire.
import Type from 'typebox';
import { instant, instantOrNull, textOrNull, wholeOrNull } from '../../kit/fields.ts';
import { difficulties, HOSTNAME_CHARACTERS_MAX, TTL_SECONDS } from './limits.ts';
import { reasons } from './solution.ts';

export const actionField = Type.Optional(
  Type.String({
    ...{ minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_./:-]+$' },
    description:
      'What is protected, such as `signup`. It is signed with the challenge, so a solution of one form does not open another.',
  }),
);
const difficulty = Type.Enum([...difficulties], {
  description: 'Work of the solver: about 0.1, 0.7 or 3.5 s of one core in Node.',
});

export const hostnameField = Type.Optional(
  Type.String({
    ...{ minLength: 1, maxLength: HOSTNAME_CHARACTERS_MAX, pattern: '^[A-Za-z0-9._:\\[\\]-]+$' },
    description:
      'Host of the page that shows the form; verify answers it. The address for widgets takes it from the browser.',
  }),
);

export const wishFields = {
  action: actionField,
  hostname: hostnameField,
  difficulty: Type.Optional({ ...difficulty, default: 'normal' }),
  ttl_seconds: Type.Optional(
    Type.Integer({
      ...{ minimum: TTL_SECONDS.min, maximum: TTL_SECONDS.max, default: TTL_SECONDS.usual },
      description: 'How long a solution counts.',
    }),
  ),
};

export const leastDifficultyField = Type.Optional({
  ...difficulty,
  description: 'The least that counts: a solution of an easier challenge is `invalid`.',
});

const challengeSchema = Type.Object(
  {
    parameters: Type.Object(
      {},
      { additionalProperties: true, description: 'What the solver works with, as ALTCHA v2 defines it.' },
    ),
    signature: Type.String({ description: 'MAC of the parameters, hexadecimal.' }),
  },
  { description: "The challenge as ALTCHA's widget and libraries take it." },
);

export const issuedSchema = Type.Object({
  challenge_id: Type.String({ description: 'ID of the challenge, `cap_…`; verify and events name it.' }),
  challenge: challengeSchema,
});

export const verificationSchema = Type.Object({
  success: Type.Boolean({ description: 'Whether the solution counts: `reason` is `ok`.' }),
  reason: Type.Enum([...reasons], {
    description:
      '`invalid`: not a right solution of a challenge of this account; `replayed`: it has counted before; `action_mismatch`: it was made for another action.',
  }),
  challenge_id: textOrNull('The challenge; null when it is not one of this account.'),
  action: textOrNull('What the challenge was made for; null: nothing was named.'),
  difficulty: textOrNull('How hard the challenge was; null when it is not one of this account.'),
  hostname: textOrNull('Host of the page that fetched the challenge, as its browser told it; null when none did.'),
  challenge_at: instantOrNull('When the challenge was made.'),
  took_ms: wholeOrNull('How long solving took, as the solver tells it; null when it does not.'),
  verified_at: instant('When it was verified.'),
});
