// Candidates after the first pass: rows whose upper bound reaches the k-th highest lower bound seen so far.

const PRUNE_FROM = 4096;

export class Candidates {
  readonly #k: number;
  #rows = new Uint32Array(1024);
  #uppers = new Float64Array(1024);
  #count = 0;
  #pruneAt = PRUNE_FROM;
  /** The k highest lower bounds: a heap with the least at its root. */
  readonly #lowers: Float64Array;
  #lowersCount = 0;

  constructor(k: number) {
    this.#k = k;
    this.#lowers = new Float64Array(k);
  }

  /** How many are asked for. */
  get wanted(): number {
    return this.#k;
  }

  /** Fewer were offered than are asked for: every row is a candidate. */
  get isOpen(): boolean {
    return this.#lowersCount < this.#k;
  }

  /** A row whose upper bound is less is not among the best k. Finite, so that a place without a row never reaches it. */
  get threshold(): number {
    if (this.isOpen) return -Number.MAX_VALUE;
    return Math.max(-Number.MAX_VALUE, this.#lowers[0] as number);
  }

  offer(row: number, upper: number, lower: number): void {
    if (upper < this.threshold) return;
    this.#push(row, upper);
    this.#offerLower(lower);
  }

  /** Rows by falling upper bound. */
  rowsByBound(): { readonly rows: Uint32Array; readonly uppers: Float64Array } {
    this.#prune();
    const order = new Uint32Array(this.#count).map((_, index) => index);
    order.sort((a, b) => (this.#uppers[b] as number) - (this.#uppers[a] as number) || 0);
    return {
      rows: order.map((at) => this.#rows[at] as number),
      uppers: Float64Array.from(order, (at) => this.#uppers[at] as number),
    };
  }

  #push(row: number, upper: number): void {
    if (this.#count === this.#pruneAt) this.#prune();
    if (this.#count === this.#rows.length) this.#double();
    this.#rows[this.#count] = row;
    this.#uppers[this.#count] = upper;
    this.#count += 1;
  }

  #prune(): void {
    const { threshold } = this;
    let kept = 0;
    for (let i = 0; i < this.#count; i += 1) {
      if ((this.#uppers[i] as number) < threshold) continue;
      this.#rows[kept] = this.#rows[i] as number;
      this.#uppers[kept] = this.#uppers[i] as number;
      kept += 1;
    }
    this.#count = kept;
    this.#pruneAt = Math.max(PRUNE_FROM, kept * 2);
  }

  #double(): void {
    const rows = new Uint32Array(this.#rows.length * 2);
    rows.set(this.#rows);
    this.#rows = rows;
    const uppers = new Float64Array(rows.length);
    uppers.set(this.#uppers);
    this.#uppers = uppers;
  }

  #offerLower(lower: number): void {
    const heap = this.#lowers;
    if (this.#lowersCount < this.#k) {
      let at = this.#lowersCount;
      this.#lowersCount += 1;
      while (at > 0 && (heap[(at - 1) >> 1] as number) > lower) {
        heap[at] = heap[(at - 1) >> 1] as number;
        at = (at - 1) >> 1;
      }
      heap[at] = lower;
    } else if (lower > (heap[0] as number)) this.#replaceLeast(lower);
  }

  #replaceLeast(lower: number): void {
    const heap = this.#lowers;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#k) break;
      if (child + 1 < this.#k && (heap[child + 1] as number) < (heap[child] as number)) child += 1;
      if ((heap[child] as number) >= lower) break;
      heap[at] = heap[child] as number;
      at = child;
    }
    heap[at] = lower;
  }
}
