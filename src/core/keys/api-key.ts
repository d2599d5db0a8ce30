// An API key as a principal, and the format and minting of its secrets.
import { hash } from 'node:crypto';
import { randomText } from '../../lib/ids.ts';
import { type Problem, problem } from '../../problems/problem.ts';
import type { Ended, NoPrincipal, Principal } from '../callers/principal.ts';
import { type Secrets, sameDigest } from '../secrets/secrets.ts';

/** A key by one of its secrets. */
export interface ApiKey extends Principal {
  readonly secretHash: Buffer;
}

/** Null: who calls is no key. */
export function keyOf(principal: Principal): ApiKey | null {
  return principal.kind.name === 'key' ? (principal as ApiKey) : null;
}

/** How a key, or a secret of it, ended. */
export type KeyEnd = Exclude<Ended, 'unknown'>;

export interface MintedSecret {
  readonly secret: string;
  readonly hash: Buffer;
  readonly prefix: string;
  readonly last4: string;
}

const PREFIX = 'qm_live_';
const ID_LENGTH = 8;
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
export const SECRET_LENGTH = PREFIX.length + ID_LENGTH + RANDOM_LENGTH + CHECKSUM_LENGTH;
const secretPattern = /^qm_live_[0-9A-Za-z]{46}$/;
const HOLDS_SECRET = /qm_live_[0-9A-Za-z]{46}/;

/** `qm_live_` + 8 id + 32 random + 6 checksum characters (contract §2). */
export function mintSecret(secrets: Secrets): MintedSecret {
  const body = PREFIX + randomText(ID_LENGTH) + randomText(RANDOM_LENGTH);
  const secret = body + secrets.keyChecksum(body);
  return {
    secret,
    hash: secretHash(secret),
    prefix: secret.slice(0, PREFIX.length + ID_LENGTH),
    last4: secret.slice(-4),
  };
}

/** False for anything that this deployment did not mint: decided without a database read. */
export function isWellFormedSecret(secrets: Secrets, secret: string): boolean {
  if (!secretPattern.test(secret)) return false;
  const body = secret.slice(0, -CHECKSUM_LENGTH);
  return sameDigest(Buffer.from(secrets.keyChecksum(body)), Buffer.from(secret.slice(-CHECKSUM_LENGTH)));
}

/** The first secret of a key that may stand in the text, of this deployment or another; null: none. */
export function secretIn(text: string): string | null {
  return text.length < SECRET_LENGTH ? null : (HOLDS_SECRET.exec(text)?.[0] ?? null);
}

export function secretHash(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

const endings: Readonly<Record<Exclude<NoPrincipal, 'unknown'>, string>> = {
  signature: 'The signature is not the one that the secret access key of this access key id gives for the request.',
  clock: 'The signature is of a time more than 15 minutes from now, or has expired.',
  revoked: 'The API key was revoked.',
  expired: 'The API key, or this secret of it, has expired or was replaced.',
};

/** The refusal of a key that was sent. `undefined`: no such key is in the database. */
export function invalidKey(why: NoPrincipal | null | undefined): Problem {
  if (why != null && why !== 'unknown') return problem('INVALID_API_KEY', { message: endings[why], detail: why });
  return problem('INVALID_API_KEY');
}

/** The refusal of a secret that was replaced, by what asks for the current one. */
export function secretInGrace(): Problem {
  return problem('INSUFFICIENT_SCOPE', {
    detail: 'secret_in_grace',
    message: 'This secret was replaced and is in its grace: it may not manage keys. Use the current secret of the key.',
  });
}
