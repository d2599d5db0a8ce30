// How long a vendor is read: until its answer is whole, takes too long, or nobody waits for it any more.

export class Upstream {
  readonly #abort = new AbortController();
  readonly #client: AbortSignal;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #left: () => void;
  /** It was ended for taking too long. */
  isLate = false;

  /** `readsOnMs`: for so long after the client has gone, for a vendor that bills the whole answer in any case; else 0. */
  constructor(client: AbortSignal, readsOnMs: number) {
    this.#client = client;
    this.#left = () => {
      if (readsOnMs === 0) this.end();
      else this.#timers.add(setTimeout(() => this.end(), readsOnMs).unref());
    };
    if (client.aborted) this.#left();
    else client.addEventListener('abort', this.#left, { once: true });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Ends it after so long, unless what is answered is called before. */
  limit(ms: number): () => void {
    const timer = setTimeout(() => {
      this.isLate = true;
      this.end();
    }, ms);
    this.#timers.add(timer);
    return () => clearTimeout(timer);
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
