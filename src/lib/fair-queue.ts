// What waits, by whom it belongs to: owners take turns, so that whoever brings much waits for himself, and the whole is bounded.

export interface FairQueueBounds {
  readonly max: number;
  readonly perOwnerMax: number;
}

export class FairQueue<T> {
  readonly #bounds: FairQueueBounds;
  /** In the order of their turns. */
  readonly #byOwner = new Map<string, T[]>();
  #size = 0;

  constructor(bounds: FairQueueBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#size;
  }

  /** Null when it was taken, else whose bound it would break. */
  push(owner: string, item: T): 'owner' | 'all' | null {
    const items = this.#byOwner.get(owner);
    if ((items?.length ?? 0) >= this.#bounds.perOwnerMax) return 'owner';
    if (this.#size >= this.#bounds.max) return 'all';
    if (items === undefined) this.#byOwner.set(owner, [item]);
    else items.push(item);
    this.#size += 1;
    return null;
  }

  /** The oldest item of the owner whose turn it is; undefined when nothing waits. */
  shift(): T | undefined {
    for (const [owner, items] of this.#byOwner) {
      this.#byOwner.delete(owner);
      const item = items.shift();
      if (items.length > 0) this.#byOwner.set(owner, items);
      this.#size -= 1;
      return item;
    }
    return undefined;
  }
}
