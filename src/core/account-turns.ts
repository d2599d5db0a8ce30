// Work of which only a few pieces can go on at a time: accounts take turns, and only so much of it may wait.
import { FairQueue } from '../lib/fair-queue.ts';
import { type Problem, problem } from '../problems/problem.ts';
import { admission } from './admission.ts';

/** Whose everything is that comes without a key: it has the share of one account. */
export const NOBODY = '(no key)';

/** What may wait for a turn, as lists of what waits are bounded. */
export const waitingBounds = { max: admission.all.waitingWorkMax, perOwnerMax: admission.account.waitingWorkMax };

/** The refusal of work for which there is no room. */
export function noRoom(full: 'owner' | 'all'): Problem {
  return problem(full === 'owner' ? 'CONCURRENCY_LIMITED' : 'OVERLOADED', { retryAfterMs: 1000 });
}

export class AccountTurns {
  readonly #waiting: FairQueue<() => void>;
  #free: number;

  constructor(atOnce: number, bounds = waitingBounds) {
    this.#free = atOnce;
    this.#waiting = new FairQueue(bounds);
  }

  /** Runs `work` when it is the account's turn. Answers and throws what `work` does; throws CONCURRENCY_LIMITED or OVERLOADED. */
  async run<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(accountId);
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  #turn(accountId: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const full = this.#waiting.push(accountId, resolve);
    if (full !== null) throw noRoom(full);
    return promise;
  }
}
