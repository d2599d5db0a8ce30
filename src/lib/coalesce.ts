// Natural batching: while one batch runs, arriving items collect for the next one. No timer: an idle key starts at once.

export interface CoalesceOptions<T, R> {
  readonly batchMax: number;
  /** Results in the order of the items; throwing rejects them all. */
  run(key: string, items: readonly T[]): Promise<readonly R[]>;
}

interface Waiting<T, R> {
  readonly item: T;
  resolve(result: R): void;
  reject(error: unknown): void;
}

export class Coalescer<T, R> {
  readonly #options: CoalesceOptions<T, R>;
  readonly #waiting = new Map<string, Waiting<T, R>[]>();

  constructor(options: CoalesceOptions<T, R>) {
    this.#options = options;
  }

  /** Joins the next batch of `key`. */
  add(key: string, item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(key);
      if (waiting !== undefined) {
        waiting.push({ item, resolve, reject });
        return;
      }
      this.#waiting.set(key, [{ item, resolve, reject }]);
      // One turn of the event loop lets the other requests of this read join.
      setImmediate(() => void this.#drain(key));
    });
  }

  async #drain(key: string): Promise<void> {
    for (;;) {
      const waiting = this.#waiting.get(key) ?? [];
      const batch = waiting.splice(0, this.#options.batchMax);
      if (batch.length === 0) {
        this.#waiting.delete(key);
        return;
      }
      await this.#runBatch(key, batch);
    }
  }

  async #runBatch(key: string, batch: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const items = batch.map((waiting) => waiting.item);
      const results = await this.#options.run(key, items);
      batch.forEach((waiting, i) => {
        waiting.resolve(results[i] as R);
      });
    } catch (error) {
      for (const waiting of batch) waiting.reject(error);
    }
  }
}
