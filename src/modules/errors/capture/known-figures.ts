// Figures that are surely in the database, by group. A figure is never removed, so what was there once need not be read again: of
// captures that repeat themselves the read was a fifth of what they cost PostgreSQL (45 of 250 µs with 2,000 fingerprints).

/** In two generations; about 10 MB. */
const FIGURES_MAX = 100_000;
const OF_GROUP_MAX = FIGURES_MAX / 4;

export class KnownFigures {
  #recent = new Map<string, Set<string>>();
  #older = new Map<string, Set<string>>();
  #size = 0;

  /** `figureKey` of what is known of the group, `groupKey`. */
  of(group: string): ReadonlySet<string> | undefined {
    const recent = this.#recent.get(group);
    if (recent !== undefined) return recent;
    const older = this.#older.get(group);
    if (older !== undefined) this.#keep(group, older);
    return older;
  }

  /** To be called once the figure is committed. */
  add(group: string, figure: string): void {
    let known = this.of(group) as Set<string> | undefined;
    if (known === undefined || known.size >= OF_GROUP_MAX) {
      this.#size -= this.#recent.get(group)?.size ?? 0;
      known = new Set();
      this.#keep(group, known);
    }
    if (known.has(figure)) return;
    known.add(figure);
    this.#size += 1;
  }

  #keep(group: string, known: Set<string>): void {
    if (this.#size >= FIGURES_MAX / 2) {
      this.#older = this.#recent;
      this.#recent = new Map();
      this.#size = 0;
    }
    this.#recent.set(group, known);
    this.#older.delete(group);
    this.#size += known.size;
  }
}
