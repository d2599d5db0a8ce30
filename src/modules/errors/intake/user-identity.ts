// Whom an event happened to, by what it says of its user: an id, else an e-mail or network address. An id that is such an address
// counts as one: addresses are kept as hashes only (user-hashes.ts).
import { isIP } from 'node:net';
import { LABEL_CHARACTERS_MAX } from '../limits.ts';
import { MODE, scrubText } from '../scrub/text.ts';
import { firstCharacters } from './clean-text.ts';
import type { JsonObject } from './draft.ts';
import { textOf } from './lenient.ts';
import type { NumberSource } from './number-source.ts';

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
