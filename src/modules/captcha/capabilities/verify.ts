// Verification of a solution. The solution itself is checked before the lane. Its expiry and earlier use are checked in the commit that charges
// for it, under the wallet's lock. So of any number of calls with one solution, in any processes, one is `ok`.
import { createHmac } from 'node:crypto';
import type { ChallengeParameters, Solution } from 'altcha-lib';
import Type from 'typebox';
import { sendEvents } from '../../../core/events/outbox.ts';
import { sameDigest } from '../../../core/secrets/secrets.ts';
import { chargeInLane } from '../../../core/wallet/charge/charge.ts';
import type { AdmittedItem, LaneItem, ReadVerdict } from '../../../core/wallet/lane/lane-item.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import { accountsOf, textArray, timestampArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { instant, instantOrNull, textOrNull, wholeOrNull } from '../../../kit/fields.ts';
import type { CallContext } from '../../../kit/services.ts';
import { canonicalJson } from '../../../lib/canonical-json.ts';
import { DAY_MS, iso, startOfDay } from '../../../lib/time.ts';
import { type ChallengeData, difficulties, signingSecrets, wish } from './challenge.ts';

export const reasons = ['ok', 'expired', 'invalid', 'replayed', 'action_mismatch'] as const;
type Judgement = ReturnType<typeof judge>;
/** The context: whether the solution has counted. */
type Item = LaneItem<Judgement, boolean>;

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
/** What a solution must be beside right: for this action, and of no easier challenge. */
const { action } = wish.properties;
const difficulty = Type.Optional(
  Type.Enum([...difficulties], { description: 'The easiest challenge that counts; `easy` when not sent.' }),
);
// Until it has been verified, whoever has it passes once.
const payload = { minLength: 1, maxLength: 4_096, writeOnly: true, description: 'What the widget puts into the form.' };

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
      units: 1n,
      effect: verification,
      input: judge(ctx, sent, expected),
      sequences: 0,
      bytes: VERIFICATION_BYTES,
      rows: 1,
    }),
});

/** Never throws for what a client may send. Some 0.1 ms of processor: two MACs. */
export function judge(
  ctx: Pick<CallContext, 'core' | 'accountId'>,
  text: string,
  { action, difficulty = 'easy' }: Partial<Pick<ChallengeData, 'action' | 'difficulty'>>,
) {
  const secrets = signingSecrets(ctx);
  const { parameters, solution } = readSigned(text, secrets.hmacSignatureSecret);
  const of: Partial<ChallengeData> = parameters.data ?? {};
  const { counter, derivedKey, time } = solution;
  const isKey = typeof derivedKey === 'string' && /^(?:[0-9a-f]{2})+$/.test(derivedKey);
  const key = isKey ? Buffer.from(derivedKey, 'hex') : '';
  const isRight = Number.isInteger(counter) && isMac(parameters.keySignature, secrets.hmacKeySignatureSecret, key);
  const isTooEasy = difficulties.indexOf(of.difficulty ?? 'easy') < difficulties.indexOf(difficulty);
  const isOther = action !== undefined && action !== of.action;
  const reason: (typeof reasons)[number] = !isRight || isTooEasy ? 'invalid' : isOther ? 'action_mismatch' : 'ok';
  const found = {
    challenge_id: of.id ?? null,
    action: of.action ?? null,
    difficulty: of.difficulty ?? null,
    hostname: of.hostname ?? null,
    challenge_at: of.created === undefined ? null : iso(of.created * 1_000),
    took_ms: typeof time === 'number' && time >= 0 && time <= DAY_MS ? Math.round(time) : null,
  };
  return { reason, found, endsMs: (parameters.expiresAt ?? Number.POSITIVE_INFINITY) * 1_000 };
}

/** A payload is hostile text: nothing of it is used before its MAC is checked. Empty: it is none, or of another account. */
function readSigned(text: string, secret: string) {
  let signed: { parameters: Partial<ChallengeParameters>; solution: Partial<Solution> } | null = null;
  try {
    const { challenge, solution } = JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
    if (isMac(challenge.signature, secret, canonicalJson(JSON.stringify(challenge.parameters))))
      signed = { parameters: challenge.parameters, solution: { ...solution } };
  } catch {
    // It is no JSON, or has no challenge.
  }
  return signed ?? { parameters: {}, solution: {} };
}

function isMac(mac: unknown, secret: string, of: string | Buffer): boolean {
  return sameDigest(Buffer.from(String(mac)), Buffer.from(createHmac('sha256', secret).update(of).digest('hex')));
}

const findSpent = statement(
  'captcha_find_spent',
  `SELECT s.challenge_id AS id FROM captcha.spent s WHERE s.account_id = ANY($1::text[]) AND s.challenge_id = ANY($2::text[])`,
);
const insertSpent = statement(
  'captcha_insert_spent',
  `INSERT INTO captcha.spent AS s (account_id, challenge_id, expires_at)
   SELECT w.account_id, u.challenge_id, u.expires_at
     FROM core.wallet w, unnest($2::text[], $3::text[], $4::timestamptz[]) u(account_id, challenge_id, expires_at)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);
const addToTally = statement(
  'captcha_add_tally',
  `INSERT INTO captcha.tally AS t (account_id, day, reason, verifications)
   SELECT w.account_id, $4::timestamptz, u.reason, count(*)
     FROM core.wallet w, unnest($2::text[], $3::text[]) u(account_id, reason)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id GROUP BY w.account_id, u.reason
       ON CONFLICT (account_id, day, reason) DO UPDATE SET verifications = t.verifications + excluded.verifications`,
);

const verification = { name: 'captcha.verify', exclusiveKeys: () => [], read: readSpent, write };

async function readSpent(tx: Queryable, items: readonly Item[]): Promise<ReadVerdict<boolean>[]> {
  const ids = items.map(({ input }) => input.found.challenge_id);
  const { rows } = await tx.query<{ id: string }>(findSpent, [accountsOf(items), textArray(ids)]);
  const spent = new Set<string | null>(rows.map(({ id }) => id));
  return ids.map((id) => ({ kind: 'go', context: spent.has(id) }));
}

function write(tx: Transaction, admitted: readonly AdmittedItem<Judgement, boolean>[], nowMs: number): string[] {
  const items = admitted.map(({ item }) => item);
  const counting = new Map<string | null, Item>();
  const told = admitted.map(({ item, context: hasCounted }) => {
    const { found, endsMs, reason: judged } = item.input;
    const isReplay = hasCounted || counting.has(found.challenge_id);
    const reason = endsMs <= nowMs ? 'expired' : judged === 'ok' && isReplay ? 'replayed' : judged;
    const success = reason === 'ok';
    if (success) counting.set(found.challenge_id, item);
    const object = { success, reason, ...found, verified_at: iso(nowMs) };
    const type = success ? 'captcha.verified' : 'captcha.failed';
    return { type, data: { object }, accountId: item.accountId, requestId: item.requestId };
  });
  const counted = [...counting.values()];
  const ends = timestampArray(counted.map(({ input }) => input.endsMs));
  const spent = [accountsOf(counted), accountOfEach(counted), textArray([...counting.keys()]), ends];
  if (counted.length > 0) void tx.query(insertSpent, spent);
  const found = textArray(told.map(({ data }) => data.object.reason));
  void tx.query(addToTally, [accountsOf(items), accountOfEach(items), found, timestamp(startOfDay(nowMs))]);
  void countAccepted(tx, items);
  sendEvents(tx, told, nowMs);
  return told.map(({ data }) => JSON.stringify(data.object));
}

const accountOfEach = (items: readonly Item[]) => textArray(items.map(({ accountId }) => accountId));
