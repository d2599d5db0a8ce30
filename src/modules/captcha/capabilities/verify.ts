import Type from 'typebox';
import { chargeInLane } from '../../../core/wallet/charge/charge.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { instant, instantOrNull, textOrNull, wholeOrNull } from '../../../kit/fields.ts';
import { judge, reasons, verification } from '../verification.ts';
import { wish } from './challenge.ts';

const output = Type.Object({
  success: Type.Boolean({ description: 'Whether the solution counts: `reason` is `ok`.' }),
  reason: Type.Enum([...reasons], { description: '`invalid` also of a challenge that is not of this account.' }),
  challenge_id: textOrNull('The challenge; null, with what follows, where it is not one of this account.'),
  action: textOrNull('What the challenge was made for; null: nothing was named.'),
  difficulty: textOrNull('How hard the challenge was.'),
  hostname: textOrNull('Host of the page that fetched the challenge, as its browser told it.'),
  challenge_at: instantOrNull('When the challenge was made.'),
  took_ms: wholeOrNull('How long solving took, as the solver tells it.'),
  verified_at: instant('When it was verified.'),
});
/** A row, an event and a ledger entry. */
const VERIFICATION_BYTES = 1_536;
const { action, difficulty } = wish.properties;
const payload = { minLength: 1, maxLength: 4_096, description: 'What the widget puts into the form.' };

export const verify = defineCapability()({
  method: 'POST',
  path: '/v1/captcha/verify',
  summary: 'Checks a solved challenge, which counts once.',
  description:
    'Send what the form brought in its field `altcha`. Let the visitor go on only when success is true. A wrong, late or repeated solution is an ' +
    'answer, not an error, and costs the same. Name action and difficulty of the form: a solution made for another action, or of an easier challenge, ' +
    'then does not count.',
  keywords: ['verify captcha', 'siteverify', 'check altcha payload'],
  input: Type.Object({ payload: Type.String(payload), action, difficulty }),
  output,
  price: 'captcha.verify',
  events: ['captcha.verified', 'captcha.failed', 'wallet.low_balance'],
  examples: [{ title: 'No solution', input: { payload: 'bm90IGEgc29sdXRpb24=' }, expect: { reason: 'invalid' } }],
  run: ({ ctx, input: { payload: sent, ...expected } }) =>
    chargeInLane(ctx, {
      ...{ units: 1n, effect: verification, input: judge(ctx, sent, expected) },
      ...{ sequences: 0, bytes: VERIFICATION_BYTES, rows: 1 },
    }),
});
