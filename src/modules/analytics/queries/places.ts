// How many questions of an account run at once in this process: each may keep threads busy for seconds.
import { problem } from '../../../problems/problem.ts';
import { QUERIES_AT_ONCE } from '../limits.ts';

const RETRY_MS = 1_000;

export class QueryPlaces {
  readonly #running = new Map<string, number>();

  /** Throws CONCURRENCY_LIMITED when the account's places are taken. */
  async run<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(accountId) ?? 0;
    if (running >= QUERIES_AT_ONCE) {
      const message = `An account may run ${QUERIES_AT_ONCE} analytics queries at once: wait for one to end.`;
      throw problem('CONCURRENCY_LIMITED', { message, retryAfterMs: RETRY_MS });
    }
    this.#running.set(accountId, running + 1);
    try {
      return await work();
    } finally {
      const left = (this.#running.get(accountId) ?? 1) - 1;
      if (left > 0) this.#running.set(accountId, left);
      else this.#running.delete(accountId);
    }
  }
}
