// Long work on the event loop in time slices. After each slice a task goes behind all others that wait, so none blocks the loop and all
// progress.

const SLICE_MS = 4;

export class TimeSlices {
  readonly #sliceMs: number;
  readonly #idleMs: number;
  readonly #waiting: (() => void)[] = [];
  #endsMs: number;

  /** @param idleMs how long it leaves the loop to others each time, beside a turn of it: for work that nobody waits for */
  constructor(sliceMs = SLICE_MS, idleMs = 0) {
    this.#sliceMs = sliceMs;
    this.#idleMs = idleMs;
    this.#endsMs = performance.now() + sliceMs;
  }

  /** Whether whoever works now is to call `next` first. */
  get isOver(): boolean {
    return performance.now() >= this.#endsMs;
  }

  /** Resolves when it is the caller's turn, which ends with `isOver`. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#serveLater();
    });
  }

  #serveLater(): void {
    if (this.#idleMs === 0) setImmediate(this.#serve);
    else setTimeout(this.#serve, this.#idleMs);
  }

  readonly #serve = (): void => {
    this.#endsMs = performance.now() + this.#sliceMs;
    const goOn = this.#waiting.shift();
    if (this.#waiting.length > 0) this.#serveLater();
    goOn?.();
  };
}
