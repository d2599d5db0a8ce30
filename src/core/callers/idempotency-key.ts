// An idempotency key in memory. Only its keyed hash is stored; the raw key encrypts stored answers that hold secrets.
export interface IdempotencyKey {
  readonly raw: string;
  /** Keyed hash of capability and key: 132 bits in base64url. */
  readonly hash: string;
  /** SHA-256 (132 bits in base64url) of the canonical request without the key. */
  readonly fingerprint: string;
}
