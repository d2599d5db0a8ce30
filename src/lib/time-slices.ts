// Long work on the event loop in slices of time: whoever has had a slice goes behind all others that wait for one, so that none holds the loop
// and each goes on.

const SLICE_MS = 4;

export class TimeSlices {
  readonly #waiting: (() => void)[] = [];
  #endsMs = 0;

  /** Whether whoever works now is to call `next` first. */
  get isOver(): boolean {
    return performance.now() >= this.#endsMs;
  }

  /** Resolves when it is the caller's turn, which ends with `isOver`. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) setImmediate(this.#serve);
    });
  }

  readonly #serve = (): void => {
    this.#endsMs = performance.now() + SLICE_MS;
    const goOn = this.#waiting.shift();
    if (this.#waiting.length > 0) setImmediate(this.#serve);
    goOn?.();
  };
}
