// Long work in slices: after some milliseconds others on the thread get their turn.
import { setImmediate, setTimeout } from 'node:timers/promises';

const SLICE_MS = 10;

export class Pace {
  readonly #sliceMs: number;
  readonly #idleMs: number;
  #since = performance.now();

  /** @param idleMs how long it leaves the thread to others each time: for work that nobody waits for */
  constructor(sliceMs = SLICE_MS, idleMs = 0) {
    this.#sliceMs = sliceMs;
    this.#idleMs = idleMs;
  }

  get due(): boolean {
    return performance.now() - this.#since > this.#sliceMs;
  }

  async rest(): Promise<void> {
    if (this.#idleMs === 0) await setImmediate();
    else await setTimeout(this.#idleMs);
    this.#since = performance.now();
  }
}
