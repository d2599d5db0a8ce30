// Users of whom only an e-mail or network address is known are counted by a keyed hash of it: the address itself is not stored, and
// without the server secret no list of addresses can be tried against the hashes. Each account has a key of its own.
import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Secrets } from '../../../core/secrets/secrets.ts';

const KEY_BYTES = 32;
/** Deriving a key takes ten times as long as using it. */
const KEYS_MAX = 4_096;
/** 132 bits. */
const HASH_CHARACTERS = 22;

export class UserHashes {
  readonly #secrets: Secrets;
  readonly #keys = new LRUCache<string, Buffer>({ max: KEYS_MAX });

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  /** The user_id that stands for an address. */
  of(accountId: string, contact: string): string {
    const hash = createHmac('sha256', this.#keyOf(accountId)).update(contact, 'utf8').digest('base64url');
    return `hashed_${hash.slice(0, HASH_CHARACTERS)}`;
  }

  #keyOf(accountId: string): Buffer {
    const known = this.#keys.get(accountId);
    if (known !== undefined) return known;
    const key = this.#secrets.derive('error-user-hash', KEY_BYTES, accountId);
    this.#keys.set(accountId, key);
    return key;
  }
}
