// Memory limit of pictures fetched for a vendor, by account. This process holds their bytes until the vendor has them.
import { FairPlaces } from '../../../lib/fair-places.ts';
import { problem } from '../../../problems/problem.ts';

export class Pictures {
  readonly #places: FairPlaces;

  constructor(bytesMax: number) {
    this.#places = new FairPlaces(bytesMax);
  }

  /** Bytes held now. */
  get bytes(): number {
    return this.#places.taken;
  }

  /** Those of one call. `take` throws CONCURRENCY_LIMITED, OVERLOADED. */
  of(accountId: string): { take(bytes: number): void; release(): void } {
    let held = 0;
    return {
      take: (bytes) => {
        if (!this.#places.take(accountId, bytes)) throw this.#full(accountId);
        held += bytes;
      },
      release: () => {
        this.#places.release(accountId, held);
        held = 0;
      },
    };
  }

  #full(accountId: string) {
    if (!this.#places.isGreedy(accountId)) return problem('OVERLOADED', { retryAfterMs: 1_000 });
    const message = 'The calls of the account that are under way hold too many bytes of pictures.';
    return problem('CONCURRENCY_LIMITED', { message, retryAfterMs: 1_000 });
  }
}
