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
  /** Counts up with each start: whoever has not begun for longest comes first. */
  readonly #lastStart = new Map<string, number>();
  #starts = 0;

  constructor(atOnce: number, bounds: WaitingBounds) {
    this.#places = new FairPlaces(atOnce);
    this.#bounds = bounds;
  }

  /** Runs `work` when the account has a place. `signal`: ends its waiting. Answers and throws what it does; throws CONCURRENCY_LIMITED and OVERLOADED when too many wait. */
  async run<T>(accountId: string, signal: AbortSignal | null, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    if (this.#places.hasRoom(accountId)) this.#begin(accountId);
    else await this.#wait(accountId, signal);
    try {
      return await work();
    } finally {
      this.#places.release(accountId, 1);
      this.#next();
    }
  }

  #wait(owner: string, signal: AbortSignal | null): Promise<void> {
    const own = this.#waiting.filter((each) => each.owner === owner).length;
    if (own >= this.#bounds.perOwnerMax) throw noRoom('owner');
    if (this.#waiting.length >= this.#bounds.max) throw noRoom('all');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      this.#waiting = this.#waiting.filter((each) => each !== waiting);
      reject(signal?.reason);
    };
    const waiting: Waiting = {
      owner,
      go() {
        signal?.removeEventListener('abort', leave);
        resolve();
      },
    };
    signal?.addEventListener('abort', leave, { once: true });
    this.#waiting.push(waiting);
    return promise;
  }

  #begin(owner: string): void {
    this.#places.force(owner, 1);
    this.#starts += 1;
    this.#lastStart.set(owner, this.#starts);
  }

  /** Of those that may have a place, the account whose last start is longest ago. Once nothing waits, the order is forgotten. */
  #next(): void {
    const startOf = ({ owner }: Waiting) => this.#lastStart.get(owner) ?? 0;
    const next = this.#waiting
      .filter(({ owner }) => this.#places.hasRoom(owner))
      .reduce<Waiting | null>(
        (first, each) => (first !== null && startOf(first) <= startOf(each) ? first : each),
        null,
      );
    if (next !== null) {
      this.#waiting = this.#waiting.filter((each) => each !== next);
      this.#begin(next.owner);
      next.go();
    }
    if (this.#waiting.length === 0) this.#lastStart.clear();
  }
}
