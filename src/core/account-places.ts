// A bounded number of places for expensive work. Each running task holds one place, accounts take turns, and the queue is bounded.
import { FairPlaces } from '../lib/fair-places.ts';
import { FairQueue, type FairQueueBounds } from '../lib/fair-queue.ts';
import { type Problem, problem } from '../problems/problem.ts';
import { admission } from './admission.ts';

/** Whose everything is that comes without a key: it has the share of one account. */
export const NOBODY = '(no key)';

/** What may wait for a place, as lists of what waits are bounded. */
const waitingBounds = { max: admission.all.waitingWorkMax, perOwnerMax: admission.account.waitingWorkMax };

interface PlacesOptions {
  /** What may wait; absent: as lists of what waits are bounded. */
  readonly waiting?: FairQueueBounds;
  /**
   * What an account may have while no other wants any. `half`, where absent, for what takes long: what holds a place for half a minute keeps another
   * account waiting only while every place is held by others. `all`, for what is soon over.
   */
  readonly alone?: 'half' | 'all';
}

export class AccountPlaces {
  readonly #atOnce: number;
  readonly #alone: 'half' | 'all';
  readonly #places: FairPlaces;
  readonly #waiting: FairQueue<() => void>;

  constructor(atOnce: number, { waiting = waitingBounds, alone = 'half' }: PlacesOptions = {}) {
    this.#atOnce = atOnce;
    this.#alone = alone;
    this.#places = new FairPlaces(atOnce);
    this.#waiting = new FairQueue(waiting);
  }

  /**
   * Runs `work` when the account has a place. `signal`: ends its waiting. Answers and throws what it does; throws CONCURRENCY_LIMITED and OVERLOADED
   * when too many wait.
   */
  async run<T>(accountId: string, signal: AbortSignal | null, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    if (this.#mayBegin(accountId)) this.#begin(accountId);
    else await this.#wait(accountId, signal);
    try {
      return await work();
    } finally {
      this.#places.release(accountId, 1);
      this.#waiting.shift((owner) => this.#mayBegin(owner))?.();
    }
  }

  #wait(owner: string, signal: AbortSignal | null): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const goOn = () => {
      signal?.removeEventListener('abort', leave);
      this.#begin(owner);
      resolve();
    };
    const leave = () => {
      this.#waiting.delete(owner, goOn);
      reject(signal?.reason);
    };
    const full = this.#waiting.push(owner, goOn);
    if (full !== null) throw noRoom(full);
    signal?.addEventListener('abort', leave, { once: true });
    return promise;
  }

  #mayBegin(owner: string): boolean {
    return this.#alone === 'all' ? this.#places.taken < this.#atOnce : this.#places.hasRoom(owner);
  }

  #begin(owner: string): void {
    this.#places.force(owner, 1);
    this.#waiting.begin(owner);
  }
}

/** The refusal of work for which there is no room. */
function noRoom(full: 'owner' | 'all'): Problem {
  return problem(full === 'owner' ? 'CONCURRENCY_LIMITED' : 'OVERLOADED', { retryAfterMs: 1000 });
}
