// Memory budget shared by all workers: bytes held by each, read and written without messages.

/** Shared between threads: per worker KiB held, and when its oldest idle collection was last used. */
export interface BudgetState {
  readonly cells: SharedArrayBuffer;
  readonly workers: number;
  readonly bytesMax: number;
}

const KIB = 1024;
/** No collection that could be evicted. */
const NOTHING = 0x7fffffff;

export function createBudget(workers: number, bytesMax: number): BudgetState {
  const cells = new SharedArrayBuffer(workers * 8);
  new Int32Array(cells).fill(NOTHING, workers);
  return { cells, workers, bytesMax };
}

export class MemoryBudget {
  readonly bytesMax: number;
  readonly #cells: Int32Array<SharedArrayBuffer>;
  readonly #workers: number;

  constructor({ cells, workers, bytesMax }: BudgetState) {
    this.#cells = new Int32Array(cells);
    this.#workers = workers;
    this.bytesMax = bytesMax;
  }

  get totalBytes(): number {
    let kib = 0;
    for (let worker = 0; worker < this.#workers; worker += 1) kib += Atomics.load(this.#cells, worker);
    return kib * KIB;
  }

  setHeld(worker: number, bytes: number): void {
    Atomics.store(this.#cells, worker, Math.ceil(bytes / KIB));
  }

  /** @param stamp a number that grows with time, in seconds; null when nothing can be evicted */
  setOldest(worker: number, stamp: number | null): void {
    Atomics.store(this.#cells, this.#workers + worker, stamp ?? NOTHING);
  }

  oldestOf(worker: number): number | null {
    const stamp = Atomics.load(this.#cells, this.#workers + worker);
    return stamp === NOTHING ? null : stamp;
  }

  /** The worker with the collection that has been idle longest, or undefined. */
  oldestWorker(): number | undefined {
    let oldest: number | undefined;
    let least = NOTHING;
    for (let worker = 0; worker < this.#workers; worker += 1) {
      const stamp = this.oldestOf(worker);
      if (stamp === null || stamp >= least) continue;
      least = stamp;
      oldest = worker;
    }
    return oldest;
  }
}
