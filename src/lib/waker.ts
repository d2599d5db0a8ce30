// A wait that can be ended early. One waiter at a time; a wake before the wait counts, unless `forget` was called since.
import { setTimeout as sleep } from 'node:timers/promises';

export class Waker {
  #woken = Promise.withResolvers<void>();

  wake(): void {
    this.#woken.resolve();
  }

  /** Only what wakes from now on counts. */
  forget(): void {
    this.#woken = Promise.withResolvers<void>();
  }

  /** Resolves when woken, or after `ms`. Does not keep the process alive. */
  async within(ms: number): Promise<void> {
    const timer = new AbortController();
    const timedOut = sleep(ms, undefined, { signal: timer.signal, ref: false }).catch(() => undefined);
    await Promise.race([this.#woken.promise, timedOut]);
    timer.abort();
  }
}
