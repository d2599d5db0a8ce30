// What an API key is to the code that checks it, and how a secret is written.
import { hash } from 'node:crypto';
import { randomText } from '../../lib/ids.ts';
import type { Tier } from '../tiers.ts';

/** The live facts of the key behind one secret. */
export interface ApiKey {
  readonly keyId: string;
  readonly accountId: string;
  readonly projectId: string;
  /** null = all modules. */
  readonly scopes: readonly string[] | null;
  readonly secretHash: Buffer;
  /** Epoch milliseconds after which this secret is dead (rotation grace or key expiry); null = none. */
  readonly validUntilMs: number | null;
  readonly tier: Tier;
  readonly suspended: boolean;
}

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
const secretPattern = /^qm_live_[0-9A-Za-z]{46}$/;

function checksum(text: string): string {
  const digest = hash('sha256', `quartermaster-key:${text}`, 'buffer');
  let value = digest.readUIntBE(0, 6) % 62 ** CHECKSUM_LENGTH;
  let out = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
    out += '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.charAt(value % 62);
    value = Math.floor(value / 62);
  }
  return out;
}

/** `qm_live_` + 8 id + 32 random + 6 checksum characters (contract §2). */
export function mintSecret(): MintedSecret {
  const body = PREFIX + randomText(ID_LENGTH) + randomText(RANDOM_LENGTH);
  const secret = body + checksum(body);
  return {
    secret,
    hash: secretHash(secret),
    prefix: secret.slice(0, PREFIX.length + ID_LENGTH),
    last4: secret.slice(-4),
  };
}

/** False for anything that no key of ours can be: decided without a database read. */
export function isWellFormedSecret(secret: string): boolean {
  if (!secretPattern.test(secret)) return false;
  const body = secret.slice(0, -CHECKSUM_LENGTH);
  return checksum(body) === secret.slice(-CHECKSUM_LENGTH);
}

export function secretHash(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
