// Cache of the series that this process has seen counted in the current hour, so usual samples read and write no rows but their blocks.
const SERIES_MAX = 300_000;

interface KnownHour {
  readonly hour: number;
  /** By ID: the hour from which on the row says that the series has samples. */
  readonly first: Map<string, number>;
}

export class KnownSeries {
  readonly #accounts = new Map<string, KnownHour>();
  #count = 0;

  /** Whether the row of the series need not change: it is live in `hour`, and has samples from `firstHour` until `lastHour`. */
  has(accountId: string, id: string, hour: number, firstHour: number, lastHour: number): boolean {
    const known = this.#accounts.get(accountId);
    if (known === undefined || known.hour !== hour || lastHour > hour) return false;
    const first = known.first.get(id);
    return first !== undefined && first <= firstHour;
  }

  add(accountId: string, id: string, hour: number, firstHour: number): void {
    let known = this.#accounts.get(accountId);
    if (known !== undefined && known.hour > hour) return;
    if (this.#count >= SERIES_MAX) {
      this.#accounts.clear();
      this.#count = 0;
      known = undefined;
    }
    if (known === undefined || known.hour < hour) {
      this.#count -= known?.first.size ?? 0;
      known = { hour, first: new Map() };
      this.#accounts.set(accountId, known);
    }
    const before = known.first.size;
    known.first.set(id, Math.min(firstHour, known.first.get(id) ?? firstHour));
    this.#count += known.first.size - before;
  }
}
