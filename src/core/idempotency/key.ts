// An idempotency key as the code carries it. Stored is only its keyed hash; the raw key encrypts answers that hold secrets.
export interface IdempotencyKey {
  readonly raw: string;
  readonly hash: Buffer;
  /** SHA-256 (first 16 bytes) of the canonical request without the key. */
  readonly fingerprint: Buffer;
}
