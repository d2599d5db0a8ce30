// Long work of which few pieces go on at a time. Unlike turns alone, an account never has all places: what holds one for half a minute
// keeps another account waiting only while every place is held by others.
import { FairPlaces } from '../lib/fair-places.ts';
import { noRoom } from './account-turns.ts';

export interface WaitingBounds {
  readonly max: number;
  readonly perOwnerMax: number;
}

interface Waiting {
  readonly owner: string;
  go(): void;
}

export class AccountPlaces {
  readonly #places: FairPlaces;
  readonly #bounds: WaitingBounds;
  #waiting: Waiting[] = [];

  constructor(atOnce: number, bounds: WaitingBounds) {
    this.#places = new FairPlaces(atOnce);
    this.#bounds = bounds;
  }

  /** Runs `work` when the account has a place. Answers and throws what it does; throws CONCURRENCY_LIMITED and OVERLOADED when too many wait. */
  async run<T>(accountId: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#places.hasRoom(accountId)) this.#places.force(accountId, 1);
    else await this.#wait(accountId, signal);
    try {
      return await work();
    } finally {
      this.#places.release(accountId, 1);
      this.#next();
    }
  }

  #wait(owner: string, signal: AbortSignal): Promise<void> {
    const own = this.#waiting.filter((each) => each.owner === owner).length;
    if (own >= this.#bounds.perOwnerMax) throw noRoom('owner');
    if (this.#waiting.length >= this.#bounds.max) throw noRoom('all');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      this.#waiting = this.#waiting.filter((each) => each !== waiting);
      reject(signal.reason);
    };
    const waiting: Waiting = {
      owner,
      go() {
        signal.removeEventListener('abort', leave);
        resolve();
      },
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#waiting.push(waiting);
    return promise;
  }

  /** Whoever has waited longest among those that may have one. */
  #next(): void {
    const next = this.#waiting.find(({ owner }) => this.#places.hasRoom(owner));
    if (next === undefined) return;
    this.#waiting = this.#waiting.filter((each) => each !== next);
    this.#places.force(next.owner, 1);
    next.go();
  }
}
