// Looks up sessions by cookie token, with a limit on unknown tokens per address: each costs a database read, and anybody can send any number.
// Beyond the limit, only tokens that were valid at their last lookup are still read.
import { hash } from 'node:crypto';
import { admission } from '../../core/admission.ts';
import type { Database } from '../../db/database.ts';
import { FailedLogins } from '../../gateway/limits/failed-logins.ts';
import { lruOf } from '../../lib/lru.ts';
import { findSession } from '../../people/sessions/sessions.ts';
import { problem } from '../../problems/problem.ts';

class SessionDoor {
  readonly #unknown = new FailedLogins(admission.address.unknownSessionsMax);
  /** Hashes of tokens that were live when they were read last. Nothing is decided by them but whether to read again. */
  readonly #live = lruOf<true>(admission.address.addressesMax);

  async find(db: Database, token: string, address: string, { isUse }: { readonly isUse: boolean }) {
    const id = hash('sha256', token);
    const waitMs = this.#live.has(id) ? 0 : this.#unknown.waitMs(address);
    if (waitMs > 0) {
      const message = 'Too many requests with unknown session cookies came from this address.';
      throw problem('RATE_LIMITED', { message, retryAfterMs: waitMs });
    }
    const found = await findSession(db, token, { isUse });
    if (found !== null) this.#live.set(id, true);
    else {
      this.#live.delete(id);
      this.#unknown.fail(address);
    }
    return found;
  }
}

const doors = new WeakMap<Database, SessionDoor>();

/** As `findSession`. Throws RATE_LIMITED when the address has sent too many tokens that are nobody's. */
export function findSessionFrom(db: Database, token: string, address: string, use: { readonly isUse: boolean }) {
  const door = doors.get(db) ?? new SessionDoor();
  doors.set(db, door);
  return door.find(db, token, address, use);
}
