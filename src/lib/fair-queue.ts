// A bounded queue with turns per owner, so that an owner with many items delays only itself.

export interface FairQueueBounds {
  readonly max: number;
  readonly perOwnerMax: number;
}

export class FairQueue<T> {
  readonly #bounds: FairQueueBounds;
  /** In the order of their turns: owners of whom no turn is known, then the others. */
  readonly #first = new Map<string, T[]>();
  readonly #behind = new Map<string, T[]>();
  readonly #hadTurn = new Set<string>();
  #size = 0;

  constructor(bounds: FairQueueBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#size;
  }

  /** Null when it was taken, else whose bound it would break. */
  push(owner: string, item: T): 'owner' | 'all' | null {
    const among = this.#hadTurn.has(owner) ? this.#behind : this.#first;
    const items = among.get(owner);
    if ((items?.length ?? 0) >= this.#bounds.perOwnerMax) return 'owner';
    if (this.#size >= this.#bounds.max) return 'all';
    if (items === undefined) among.set(owner, [item]);
    else items.push(item);
    this.#size += 1;
    return null;
  }

  /** The oldest item of the owner whose turn it is, of those that may have it; undefined when nothing of them waits. */
  shift(mayHaveIt: (owner: string) => boolean = () => true): T | undefined {
    if (this.#size === 0) this.#hadTurn.clear();
    for (const among of [this.#first, this.#behind]) {
      for (const [owner, items] of among) {
        if (!mayHaveIt(owner)) continue;
        among.delete(owner);
        const item = items.shift();
        if (items.length > 0) among.set(owner, items);
        this.#size -= 1;
        return item;
      }
    }
    return undefined;
  }

  /** The owner has begun something: it goes behind all that have not, until nothing waits. For what goes on beyond its turn. */
  begin(owner: string): void {
    this.#hadTurn.add(owner);
    const items = this.#first.get(owner) ?? this.#behind.get(owner);
    if (items === undefined) return;
    this.#first.delete(owner);
    this.#behind.delete(owner);
    this.#behind.set(owner, items);
  }

  /** It waits no more. */
  delete(owner: string, item: T): void {
    for (const among of [this.#first, this.#behind]) {
      const items = among.get(owner) ?? [];
      const at = items.indexOf(item);
      if (at === -1) continue;
      items.splice(at, 1);
      if (items.length === 0) among.delete(owner);
      this.#size -= 1;
    }
  }
}
