// What a payload of ALTCHA's widget says, and whether it is right. A payload is hostile text: nothing of it is used before its MAC is checked,
// so no cost or algorithm but our own is ever worked with.
import { createHmac } from 'node:crypto';
import type { Challenge, Solution } from 'altcha-lib';
import type { CallContext } from '../../core/context.ts';
import { sameDigest } from '../../core/secrets/secrets.ts';
import { type ChallengeData, signingSecrets } from './challenge.ts';
import { type Difficulty, difficulties, PAYLOAD_CHARACTERS_MAX } from './limits.ts';

export const reasons = ['ok', 'expired', 'invalid', 'replayed', 'action_mismatch'] as const;
export type Reason = (typeof reasons)[number];

/** What a solution must be beside right. */
export interface Expectation {
  readonly action?: string;
  /** An easier challenge does not do. */
  readonly difficulty?: Difficulty;
}

/** Before it is known whether the solution has counted already. */
export interface Judgement {
  readonly reason: Exclude<Reason, 'replayed'>;
  /** Null: the challenge is not one of the account. */
  readonly challenge: (ChallengeData & { readonly expiresAtMs: number }) | null;
  /** As the solver tells it. */
  readonly tookMs: number | null;
}

interface Payload {
  readonly challenge: Challenge;
  readonly solution: Solution;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const TOOK_MS_MAX = 86_400_000;
const invalid: Judgement = { reason: 'invalid', challenge: null, tookMs: null };

/** Never throws for what a client may send. Some 0.1 ms of processor: two MACs. */
export async function judge(
  { core, accountId }: Pick<CallContext, 'core' | 'accountId'>,
  text: string,
  expected: Expectation,
): Promise<Judgement> {
  const payload = readPayload(text);
  if (payload === null) return invalid;
  const { challenge, solution } = payload;
  const signing = signingSecrets(core.secrets, accountId);
  if (!isSigned(challenge, signing.hmacSignatureSecret)) return invalid;
  const { data, expiresAt = 0 } = challenge.parameters;
  const known = { ...(data as unknown as ChallengeData), expiresAtMs: expiresAt * 1_000 };
  const found = { challenge: known, tookMs: tookOf(solution) };
  const [{ verifySolution }, { deriveKey }] = await Promise.all([
    import('altcha-lib'),
    import('altcha-lib/algorithms/pbkdf2'),
  ]);
  const { expired, verified } = await verifySolution({ ...signing, challenge, solution, deriveKey });
  if (expired) return { ...found, reason: 'expired' };
  const { action, difficulty = 'easy' } = expected;
  const isTooEasy = difficulties.indexOf(known.difficulty) < difficulties.indexOf(difficulty);
  if (!verified || isTooEasy) return { ...found, reason: 'invalid' };
  return { ...found, reason: action !== undefined && action !== known.action ? 'action_mismatch' : 'ok' };
}

/** Null: it is no payload. */
function readPayload(text: string): Payload | null {
  if (text.length > PAYLOAD_CHARACTERS_MAX || !BASE64.test(text)) return null;
  try {
    const { challenge, solution } = JSON.parse(Buffer.from(text, 'base64').toString('utf8')) as Payload;
    const isWhole = isRecord(challenge?.parameters) && typeof challenge.signature === 'string' && isRecord(solution);
    return isWhole ? { challenge, solution } : null;
  } catch {
    return null;
  }
}

/** The library looks at the end of a challenge before its signature; a forged one is to be told as forged. */
function isSigned({ parameters, signature = '' }: Challenge, secret: string): boolean {
  const mac = createHmac('sha256', secret)
    .update(JSON.stringify(sorted(parameters)))
    .digest('hex');
  return sameDigest(Buffer.from(signature), Buffer.from(mac));
}

/** As ALTCHA signs: names in order. A payload is short, so its nesting is bounded. */
function sorted(value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  );
}

function tookOf({ time }: Solution): number | null {
  return typeof time === 'number' && time >= 0 && time <= TOOK_MS_MAX ? Math.round(time) : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
