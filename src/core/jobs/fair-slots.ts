// A bounded number of places, shared by accounts so that none can take the last ones: an account may take another place only while
// it holds fewer than are free (dynamic thresholds; Choudhury and Hahne, 1998). Alone it gets half of them, and however many
// others hang, a newcomer finds a place.

export class FairSlots {
  readonly #taken = new Map<string, number>();
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /** Takes up to `wanted` places for the account. Answers how many; each is given back by `release`. */
  reserve(accountId: string, wanted: number): number {
    const own = this.#taken.get(accountId) ?? 0;
    const granted = Math.max(0, Math.min(wanted, Math.ceil((this.#free - own) / 2)));
    if (granted > 0) this.#taken.set(accountId, own + granted);
    this.#free -= granted;
    return granted;
  }

  release(accountId: string, places: number): void {
    const left = (this.#taken.get(accountId) ?? 0) - places;
    if (left > 0) this.#taken.set(accountId, left);
    else this.#taken.delete(accountId);
    this.#free += places;
  }
}
