// Time limits of reading one vendor: until its answer is whole, takes too long, or no client waits for it any more.
import { performance } from 'node:perf_hooks';

export class Upstream {
  readonly #abort = new AbortController();
  readonly #client: AbortSignal;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #left: () => void;
  readonly #beganMs = performance.now();
  /** Its head said that it takes the call on: from now on it may bill it. */
  isAccepted = false;
  /** It was ended for taking too long. */
  isLate = false;
  /** It was ended because nobody waits for it. */
  isLeft = false;

  /**
   * `readsOnMs`: for so long after the client has gone, for a vendor that bills the whole answer in any case; else 0. One that has not taken
   * the call on by then bills nothing.
   */
  constructor(client: AbortSignal, readsOnMs: number) {
    this.#client = client;
    this.#left = () => {
      if (readsOnMs === 0 || !this.isAccepted) this.leave();
      else this.#timers.add(setTimeout(() => this.leave(), readsOnMs).unref());
    };
    if (client.aborted) this.#left();
    else client.addEventListener('abort', this.#left, { once: true });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** For how long it has been asked. */
  get ageMs(): number {
    return performance.now() - this.#beganMs;
  }

  /** Ends it after so long, unless what is answered is called before. */
  limit(ms: number): () => void {
    const timer = setTimeout(() => {
      this.isLate = !this.isLeft;
      this.end();
    }, ms);
    this.#timers.add(timer);
    return () => clearTimeout(timer);
  }

  /** Nobody waits for it any more. */
  leave(): void {
    this.isLeft = !this.isLate;
    this.end();
  }

  end(): void {
    this.#abort.abort();
  }

  /** Nothing more is to be read: forgets all times. */
  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#client.removeEventListener('abort', this.#left);
  }
}
