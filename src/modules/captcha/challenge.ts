// Challenges of ALTCHA v2: parameters under two MACs of the account. Nothing of a challenge is stored; what its solution must be checked
// against stands in it, signed: its id, action, page and end.
import { randomInt } from 'node:crypto';
import type { Challenge } from 'altcha-lib';
import type { CallContext } from '../../core/context.ts';
import { clockNow } from '../../core/database-clock.ts';
import type { Secrets } from '../../core/secrets/secrets.ts';
import { newId } from '../../lib/ids.ts';
import { type Difficulty, efforts, TTL_SECONDS } from './limits.ts';

export interface Wish {
  readonly action?: string;
  readonly difficulty?: Difficulty;
  readonly ttl_seconds?: number;
  /** Of the page that asked, when a browser told it. */
  readonly hostname?: string;
}

/** What is signed with a challenge, in `parameters.data`. */
export interface ChallengeData {
  readonly id: string;
  /** Epoch seconds. */
  readonly created: number;
  readonly difficulty: Difficulty;
  readonly action?: string;
  readonly hostname?: string;
}

export interface IssuedChallenge {
  readonly challenge_id: string;
  readonly challenge: Challenge;
}

/** One secret signs the parameters, the other the key that a solver must find: so checking a solution derives nothing. */
export function signingSecrets(secrets: Secrets, accountId: string) {
  return {
    hmacSignatureSecret: secrets.derive('captcha-challenge', 32, accountId).toString('hex'),
    hmacKeySignatureSecret: secrets.derive('captcha-solution', 32, accountId).toString('hex'),
  };
}

/** Derives one key, in a thread of libuv. */
export async function issueChallenge(
  { core, accountId }: Pick<CallContext, 'core' | 'accountId'>,
  { difficulty = 'normal', ttl_seconds: ttl = TTL_SECONDS.usual, action, hostname }: Wish,
): Promise<IssuedChallenge> {
  const { cost, tries } = efforts[difficulty];
  const id = newId('cap_');
  const created = Math.floor((await clockNow(core.db)) / 1_000);
  // Loaded when a challenge is first asked for.
  const [{ createChallenge }, { deriveKey }] = await Promise.all([
    import('altcha-lib'),
    import('altcha-lib/algorithms/pbkdf2'),
  ]);
  const challenge = await createChallenge({
    ...signingSecrets(core.secrets, accountId),
    ...{ algorithm: 'PBKDF2/SHA-256', deriveKey, cost, counter: randomInt(tries[0], tries[1] + 1) },
    expiresAt: created + ttl,
    data: { id, created, difficulty, ...(action && { action }), ...(hostname && { hostname }) },
  });
  return { challenge_id: id, challenge };
}
