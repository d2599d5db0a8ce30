// How often the rules of an account are looked at: all of them together take at most a second of each minute. Rules that take less than their
// share of it are looked at at each step; the others at every second, third, … step, all of them alike.
import type { Queryable } from '../../../db/database.ts';
import { lruOf } from '../../../lib/lru.ts';
import { LOOK_MS_A_MINUTE, RECKON_EVERY_MS, SPREAD_MAX } from '../limits.ts';
import { loadOf, sharesOf } from './store.ts';

export interface Spread {
  /** Of a minute, ms: who takes less is looked at at each step. */
  readonly fairMs: number;
  /** Steps from one look to the next, of the others. */
  readonly steps: number;
}

const ACCOUNTS_MAX = 10_000;
const free: Spread = { fairMs: Number.POSITIVE_INFINITY, steps: 1 };

/** What is known of the accounts whose rules this process looks at. */
export class Spreads {
  readonly #known = lruOf<{ readonly spread: Promise<Spread>; readonly untilMs: number }>(ACCOUNTS_MAX);

  of(db: Queryable, accountId: string): Promise<Spread> {
    const known = this.#known.get(accountId);
    if (known !== undefined && performance.now() < known.untilMs) return known.spread;
    const spread = reckon(db, accountId);
    this.#known.set(accountId, { spread, untilMs: performance.now() + RECKON_EVERY_MS });
    // Reckoned again at the next look.
    spread.catch(() => this.#known.delete(accountId));
    return spread;
  }
}

async function reckon(db: Queryable, accountId: string): Promise<Spread> {
  const { rules, load } = await loadOf(db, accountId);
  if (load <= LOOK_MS_A_MINUTE) return free;
  const fairMs = LOOK_MS_A_MINUTE / rules;
  return spreadOf(fairMs, await sharesOf(db, accountId, fairMs));
}

/** `within` is below the whole, since each of those takes less than its part of it. */
export function spreadOf(
  fairMs: number,
  { within, beyond }: { readonly within: number; readonly beyond: number },
): Spread {
  const left = Math.max(LOOK_MS_A_MINUTE - within, LOOK_MS_A_MINUTE / SPREAD_MAX);
  return { fairMs, steps: Math.min(SPREAD_MAX, Math.max(1, Math.ceil(beyond / left))) };
}

/** Steps until the next look of a rule that takes so long. */
export function stepsOf({ fairMs, steps }: Spread, tookMs: number, everySeconds: number): number {
  return (tookMs * 60) / everySeconds < fairMs ? 1 : steps;
}
