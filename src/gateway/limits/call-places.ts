// Places for running calls, and their queue. Owners take turns, so a thousand calls of one owner do not delay another. A call that waits longer
// than its answer is worth is refused. A short burst may wait longer than a standing queue (CoDel; Nichols and Jacobson, 2012). A call behind
// its own owner's calls may wait still longer: that delays nobody else.
import type { Admission } from '../../core/admission.ts';
import { FairPlaces } from '../../lib/fair-places.ts';

interface Waiter {
  readonly owner: string;
  readonly sinceMs: number;
  run(): void;
  refuse(): void;
}

/** Owners looked at when one place is given back: those at the end of the line have their turn later. */
const OWNERS_LOOKED_AT = 8;

export class CallPlaces {
  readonly #places: FairPlaces;
  readonly #bounds: Admission['all'];
  /** By owner, in the order of their turns. */
  readonly #waiting = new Map<string, Waiter[]>();
  #waiters = 0;
  #standingSinceMs = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(bounds: Admission['all']) {
    this.#bounds = bounds;
    this.#places = new FairPlaces(bounds.places);
  }

  get waiting(): number {
    return this.#waiters;
  }

  /** Takes a place if there is one for the owner now. */
  takeNow(owner: string): boolean {
    return !this.#waiting.has(owner) && this.#places.take(owner, 1);
  }

  /** Undefined: the place is taken. Else answers whether it was taken; false: the call waited too long. Each taken one is given back. */
  take(owner: string, waitedMs = 0): Promise<boolean> | undefined {
    if (this.takeNow(owner)) return undefined;
    return new Promise((resolve) => {
      this.#enqueue({
        owner,
        sinceMs: performance.now() - waitedMs,
        run: () => resolve(true),
        refuse: () => resolve(false),
      });
    });
  }

  give(owner: string): void {
    this.#places.release(owner, 1);
    if (this.#waiters > 0) this.#serve(OWNERS_LOOKED_AT);
  }

  /** Whether it is the owner's own calls that its next one waits for. */
  isGreedy(owner: string): boolean {
    return this.#places.isGreedy(owner);
  }

  #enqueue(waiter: Waiter): void {
    if (this.#waiters === 0) this.#standingSinceMs = waiter.sinceMs;
    this.#waiters += 1;
    const line = this.#waiting.get(waiter.owner);
    if (line === undefined) this.#waiting.set(waiter.owner, [waiter]);
    else line.push(waiter);
    this.#timer ??= setInterval(() => this.#tick(), this.#bounds.turnLookMs);
  }

  #serve(looks: number): void {
    let left = looks;
    for (const [owner, line] of this.#waiting) {
      if (left <= 0) break;
      if (this.#places.take(owner, 1)) {
        const [next] = line.splice(0, 1);
        this.#removeWaiters(1);
        next?.run();
      } else left -= 1;
      // The end of the line of owners: the next turn is another's.
      this.#waiting.delete(owner);
      if (line.length > 0) this.#waiting.set(owner, line);
    }
  }

  #tick(): void {
    this.#serve(this.#waiting.size);
    const nowMs = performance.now();
    const { turnWaitMs, turnBurstMs, turnBurstWaitMs, turnOwnWaitMs } = this.#bounds;
    const sharedWaitMs = nowMs - this.#standingSinceMs > turnBurstMs ? turnWaitMs : turnBurstWaitMs;
    for (const [owner, line] of this.#waiting) {
      const waitMs = this.isGreedy(owner) ? turnOwnWaitMs : sharedWaitMs;
      const late = line.findIndex(({ sinceMs }) => nowMs - sinceMs <= waitMs);
      const refused = line.splice(0, late === -1 ? line.length : late);
      if (line.length === 0) this.#waiting.delete(owner);
      this.#removeWaiters(refused.length);
      for (const waiter of refused) waiter.refuse();
    }
  }

  #removeWaiters(waiters: number): void {
    this.#waiters -= waiters;
    if (this.#waiters > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}
