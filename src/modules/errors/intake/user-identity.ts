// Identity of an event's user: an id, else an e-mail or network address. An id that is such an address counts as one: addresses are kept as
// hashes only.

import { createHmac } from 'node:crypto';
import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { Secrets } from '../../../core/secrets/secrets.ts';
import { firstCharacters } from '../../../lib/clean-text.ts';
import { MODE, scrubText } from '../../../lib/scrub/text.ts';
import { LABEL_CHARACTERS_MAX } from '../limits.ts';
import type { JsonObject } from './draft.ts';
import { type NumberSource, textOf } from './lenient.ts';

export interface UserIdentity {
  readonly userId: string | null;
  /** In one writing, to be hashed. */
  readonly contact: string | null;
}

const NOBODY: UserIdentity = { userId: null, contact: null };
/** RFC 5321: 64 before the @ and 255 behind it. */
const EMAIL_CHARACTERS_MAX = 320;

/** `user`: of the event that `numbers` reads. `idNames`: its members that may hold an id, the first one that does counts. */
export function identityOf(user: JsonObject | null, idNames: readonly string[], numbers: NumberSource): UserIdentity {
  if (user === null) return NOBODY;
  for (const name of idNames) {
    const sent = user[name];
    const id = typeof sent === 'number' ? numbers.text(sent, name, 'user') : textOf(sent);
    if (id !== null) return ofId(firstCharacters(id, LABEL_CHARACTERS_MAX));
  }
  return { userId: null, contact: emailOf(user.email) ?? addressOf(user.ip_address) ?? addressOf(user.ip) };
}

function ofId(id: string): UserIdentity {
  const holdsAddress = scrubText(id, MODE.number | MODE.personal) !== scrubText(id, MODE.number);
  return holdsAddress ? { userId: null, contact: inOneWriting(id) } : { userId: id, contact: null };
}

function emailOf(sent: unknown): string | null {
  if (typeof sent !== 'string' || sent.length > EMAIL_CHARACTERS_MAX || !sent.includes('@')) return null;
  return inOneWriting(sent);
}

/** SDKs also write `{{auto}}`, which is nobody's address. */
function addressOf(sent: unknown): string | null {
  return typeof sent === 'string' && isIP(sent.trim()) !== 0 ? inOneWriting(sent) : null;
}

const inOneWriting = (contact: string) => contact.trim().toLowerCase();

// Users of whom only an e-mail or network address is known are counted by a keyed hash of it: the address itself is not stored, and
// without the server secret no list of addresses can be tried against the hashes. Each account has a key of its own.

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
