// Frame data of every page: failures and waiting calls by navigation entry, balance, and the person's accounts. Cached for 30 s by session and
// account. A form that writes clears the entry; a page that reads failures, or what waits, refreshes them.
import { LRUCache } from 'lru-cache';
import { findAccount } from '../../core/accounts/accounts.ts';
import type { Queryable } from '../../db/database.ts';
import type { Callable } from '../../kit/console/visit.ts';
import { type Member, membershipsOf } from '../../people/persons.ts';
import { PageVisit, type VisitParts } from './visit.ts';

const KEPT_MS = 30_000;
const SESSIONS_MAX = 1_000;
const balance: Callable = { id: 'account.balance' };

export interface Standing {
  /** By path of the navigation's entry. */
  readonly failing: ReadonlyMap<string, number>;
  /** Calls that wait for a person, in the same way. */
  readonly waiting: ReadonlyMap<string, number>;
  /** Null: the visitor may not see it, or it could not be read. */
  readonly balanceUsd: number | null;
  /** What the person may act for; none for a session without a person. */
  readonly memberships: readonly Membership[];
}

/** `accountName`: null where it has none. */
export interface Membership extends Pick<Member, 'accountId' | 'role'> {
  readonly accountName: string | null;
}

type Around = Omit<Standing, 'failing' | 'waiting'>;

interface Kept {
  readonly around: Promise<Around>;
  failing: Promise<Standing['failing']>;
  waiting: Promise<Standing['waiting']>;
}

export class Standings {
  readonly #kept = new LRUCache<string, Kept>({ max: SESSIONS_MAX, ttl: KEPT_MS });

  /** As it was at most 30 s ago. `visit`: of the page, whose own look at what fails counts at once. */
  async of(visit: PageVisit, parts: VisitParts): Promise<Standing> {
    const key = keyOf(parts);
    let kept = this.#kept.get(key);
    if (kept === undefined) {
      // By a visit of its own: its calls are none of the page's.
      const own = new PageVisit(parts);
      kept = {
        around: readAround(own, parts),
        failing: visit.failingSoFar ?? own.failing(),
        waiting: visit.waitingSoFar ?? own.waiting(),
      };
      this.#kept.set(key, kept);
    } else {
      kept.failing = visit.failingSoFar ?? kept.failing;
      kept.waiting = visit.waitingSoFar ?? kept.waiting;
    }
    try {
      const [around, failing, waiting] = await Promise.all([kept.around, kept.failing, kept.waiting]);
      return { ...around, failing, waiting };
    } catch (error) {
      this.#kept.delete(key);
      throw error;
    }
  }

  /** A form of the session wrote something. */
  forget(parts: Pick<VisitParts, 'visitor'>): void {
    this.#kept.delete(keyOf(parts));
  }
}

function keyOf({ visitor: { session } }: Pick<VisitParts, 'visitor'>): string {
  return `${session.sessionId} ${session.accountId}`;
}

async function readAround(visit: PageVisit, { core }: VisitParts): Promise<Around> {
  const [money, memberships] = await Promise.all([
    visit.may(balance) ? visit.call(balance) : null,
    visit.personId === null ? [] : namedMemberships(core.db, visit.personId),
  ]);
  const { balance_usd: balanceUsd = null } = (money?.data ?? {}) as { readonly balance_usd?: number };
  return { balanceUsd, memberships };
}

async function namedMemberships(db: Queryable, personId: string): Promise<readonly Membership[]> {
  const all = await membershipsOf(db, personId);
  // Nobody chooses among one.
  if (all.length < 2) return all.map((one) => ({ ...one, accountName: null }));
  return Promise.all(
    all.map(async (one) => ({ ...one, accountName: (await findAccount(db, one.accountId))?.name ?? null })),
  );
}
