// Pacer for small pieces of work from many sources: a fixed number per time slice; work beyond it waits for a later slice. All work that has
// arrived by then runs in one go, so more sources lengthen each wait but do not make the process busier.

const SLICE_MS = 5;

export class Pacer {
  readonly #perSlice: number;
  #left: number;
  readonly #waiting = new Set<() => void>();
  #slices: NodeJS.Timeout | null = null;

  constructor(perSlice: number) {
    this.#perSlice = perSlice;
    this.#left = perSlice;
  }

  /** Takes a turn of this slice. False: there is none left, or others wait for one. */
  take(): boolean {
    this.#slices ??= setInterval(() => this.#begin(), SLICE_MS).unref();
    if (this.#left === 0 || this.#waiting.size > 0) return false;
    this.#left -= 1;
    return true;
  }

  /** Calls `goOn` once, in its turn: the longest waiting first. */
  wait(goOn: () => void): void {
    this.#waiting.add(goOn);
  }

  leave(goOn: () => void): void {
    this.#waiting.delete(goOn);
  }

  #begin(): void {
    if (this.#left === this.#perSlice && this.#waiting.size === 0 && this.#slices !== null) {
      clearInterval(this.#slices);
      this.#slices = null;
      return;
    }
    this.#left = this.#perSlice;
    for (const goOn of this.#waiting) {
      if (this.#left === 0) return;
      this.#left -= 1;
      this.#waiting.delete(goOn);
      goOn();
    }
  }
}
