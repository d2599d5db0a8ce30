// Top-k selection: higher scores first, equal scores by id in code units.
import type { Match } from './port.ts';

interface Entry {
  readonly row: number;
  readonly score: number;
  id: string | undefined;
}

export class Best {
  readonly #k: number;
  readonly #idOf: (row: number) => string;
  /** A heap with the worst at its root. */
  readonly #heap: Entry[] = [];

  /** @param idOf is asked only where scores are equal, and for the result */
  constructor(k: number, idOf: (row: number) => string) {
    this.#k = k;
    this.#idOf = idOf;
  }

  /** What a further score must reach; minus infinity while there is room. */
  get least(): number {
    return this.#heap.length < this.#k ? Number.NEGATIVE_INFINITY : (this.#heap[0] as Entry).score;
  }

  offer(row: number, score: number): void {
    const entry: Entry = { row, score, id: undefined };
    if (this.#heap.length < this.#k) {
      this.#heap.push(entry);
      this.#up(this.#heap.length - 1);
    } else if (this.#isWorse(this.#heap[0] as Entry, entry)) {
      this.#heap[0] = entry;
      this.#down();
    }
  }

  rows(): number[] {
    return this.#heap.map(({ row }) => row);
  }

  matches(versionOf: (row: number) => number): Match[] {
    const sorted = [...this.#heap].sort((a, b) => (this.#isWorse(a, b) ? 1 : -1));
    return sorted.map((entry) => ({ id: this.#id(entry), score: entry.score, version: versionOf(entry.row) }));
  }

  #id(entry: Entry): string {
    entry.id ??= this.#idOf(entry.row);
    return entry.id;
  }

  #isWorse(a: Entry, b: Entry): boolean {
    return a.score === b.score ? this.#id(a) > this.#id(b) : a.score < b.score;
  }

  #up(from: number): void {
    const heap = this.#heap;
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.#isWorse(heap[at] as Entry, heap[parent] as Entry)) return;
      [heap[at], heap[parent]] = [heap[parent] as Entry, heap[at] as Entry];
      at = parent;
    }
  }

  #down(): void {
    const heap = this.#heap;
    for (let at = 0; ; ) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < heap.length && this.#isWorse(heap[child] as Entry, heap[worst] as Entry)) worst = child;
      if (worst === at) return;
      [heap[at], heap[worst]] = [heap[worst] as Entry, heap[at] as Entry];
      at = worst;
    }
  }
}
