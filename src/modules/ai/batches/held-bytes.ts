// Memory accounting of batch items: the bytes that a running item holds of the limit for all items of this process.
import type { FairPlaces } from '../../../lib/fair-places.ts';

/** Others hold what there is: the item is to be made later. */
export class NoRoom extends Error {}

export class HeldBytes {
  readonly #all: FairPlaces;
  readonly #accountId: string;
  #bytes = 0;

  constructor(all: FairPlaces, accountId: string) {
    this.#all = all;
    this.#accountId = accountId;
  }

  /** Throws NoRoom. */
  take(bytes: number): void {
    if (!this.#all.take(this.#accountId, bytes)) throw new NoRoom();
    this.#bytes += bytes;
  }

  /** Of what is there already. */
  force(bytes: number): void {
    this.#all.force(this.#accountId, bytes);
    this.#bytes += bytes;
  }

  release(): void {
    this.#all.release(this.#accountId, this.#bytes);
    this.#bytes = 0;
  }
}
