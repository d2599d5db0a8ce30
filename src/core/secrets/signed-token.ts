// Signed tokens for URLs: JSON fields with a MAC that only this deployment can write. The reader must judge what the fields name and until when
// they are valid.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secrets } from './secrets.ts';

const MAC_BYTES = 24;
const PART = '[A-Za-z0-9_-]+';
const TOKEN = new RegExp(`^(${PART})\\.(${PART})$`);

export type TokenFields = readonly (string | number | null)[];

export class SignedTokens {
  readonly #secret: Buffer;

  /** `purpose`: tokens of one are none of another. */
  constructor(secrets: Secrets, purpose: string) {
    this.#secret = secrets.derive(purpose, 32);
  }

  /** Letters, digits, `-`, `_` and one `.`. */
  write(kind: string, fields: TokenFields): string {
    const body = Buffer.from(JSON.stringify(fields)).toString('base64url');
    return `${body}.${this.#mac(kind, body).toString('base64url')}`;
  }

  /** Null: it is none of ours, or of another kind. */
  read(kind: string, token: string): TokenFields | null {
    const [, body, mac] = TOKEN.exec(token) ?? [];
    if (body === undefined || mac === undefined) return null;
    const given = Buffer.from(mac, 'base64url');
    // Decoding skips what is no base64url: only the one spelling that we hand out is taken.
    if (given.length !== MAC_BYTES || given.toString('base64url') !== mac) return null;
    if (!timingSafeEqual(given, this.#mac(kind, body))) return null;
    return JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
  }

  #mac(kind: string, body: string): Buffer {
    return createHmac('sha256', this.#secret).update(`${kind}\n${body}`).digest().subarray(0, MAC_BYTES);
  }
}
