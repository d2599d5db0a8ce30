// Consumers waiting for messages. They hold no connection and ask nothing: a publish in this process wakes them, and for the rest
// (other processes, delays, ended leases) one look serves all of them (waiting-look.ts).

type Wake = () => void;

export class Waiters {
  readonly #waiting = new Map<string, Set<Wake>>();
  #watcher: (key: string) => void = () => undefined;
  #onWait: () => void = () => undefined;
  #stopped = false;

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Resolves when woken, after `timeoutMs`, when `signal` aborts, or when everything stops. */
  wait(key: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.#stopped || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(key) ?? new Set();
      this.#waiting.set(key, waiting);
      const wake = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        waiting.delete(wake);
        if (waiting.size === 0) this.#waiting.delete(key);
        resolve();
      };
      const timer = setTimeout(wake, timeoutMs);
      signal.addEventListener('abort', wake, { once: true });
      waiting.add(wake);
      this.#onWait();
    });
  }

  /** How many wait for each key. */
  waiting(): { key: string; count: number }[] {
    return [...this.#waiting].map(([key, { size }]) => ({ key, count: size }));
  }

  /** Calls `listener` whenever somebody begins to wait. */
  onWait(listener: () => void): void {
    this.#onWait = listener;
  }

  /** Calls `watcher` at every wake: it waits for all keys at once, and takes no consumer's turn. */
  watch(watcher: (key: string) => void): void {
    this.#watcher = watcher;
  }

  /** Wakes up to `count` consumers of a key, longest waiting first. */
  wake(key: string, count: number): void {
    this.#watcher(key);
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return;
    let left = count;
    for (const wake of [...waiting]) {
      if (left <= 0) return;
      left -= 1;
      wake();
    }
  }

  /** Every wait ends now, and every later one at once. */
  stop(): void {
    this.#stopped = true;
    for (const waiting of [...this.#waiting.values()]) for (const wake of [...waiting]) wake();
  }
}
