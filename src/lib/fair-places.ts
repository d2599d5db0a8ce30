// A bounded number of places, shared by owners (accounts, addresses) so that none can take the last ones. An owner may take another place only
// while it holds fewer than are free (dynamic thresholds; Choudhury and Hahne, 1998). A single owner gets half of them. However many others
// hang, a newcomer finds a place. Bytes are places too.

export class FairPlaces {
  readonly #taken = new Map<string, number>();
  #free: number;
  readonly #total: number;

  constructor(places: number) {
    this.#free = places;
    this.#total = places;
  }

  /** Of all owners. */
  get taken(): number {
    return this.#total - this.#free;
  }

  /** Takes up to `wanted` places for the owner. Answers how many; each is given back by `release`. */
  reserve(owner: string, wanted: number): number {
    const own = this.#taken.get(owner) ?? 0;
    const granted = Math.max(0, Math.min(wanted, Math.ceil((this.#free - own) / 2)));
    if (granted > 0) this.#taken.set(owner, own + granted);
    this.#free -= granted;
    return granted;
  }

  /** Takes `wanted` places, or none: then answers false. */
  take(owner: string, wanted: number): boolean {
    const own = this.#taken.get(owner) ?? 0;
    if (wanted > Math.ceil((this.#free - own) / 2)) return false;
    this.#taken.set(owner, own + wanted);
    this.#free -= wanted;
    return true;
  }

  /** Whether the owner may take one more. */
  hasRoom(owner: string): boolean {
    return (this.#taken.get(owner) ?? 0) < this.#free;
  }

  /** Takes them in any case: there may be fewer than none left. */
  force(owner: string, places: number): void {
    this.#taken.set(owner, (this.#taken.get(owner) ?? 0) + places);
    this.#free -= places;
  }

  /** Whether it is the owner who holds much, and not the many others. */
  isGreedy(owner: string): boolean {
    return (this.#taken.get(owner) ?? 0) * 4 >= this.#total;
  }

  release(owner: string, places: number): void {
    const left = (this.#taken.get(owner) ?? 0) - places;
    if (left > 0) this.#taken.set(owner, left);
    else this.#taken.delete(owner);
    this.#free += places;
  }
}
