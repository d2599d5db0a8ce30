// Long work in slices: after some milliseconds others on the thread get their turn.
import { setImmediate } from 'node:timers/promises';

const SLICE_MS = 10;

export class Pace {
  #since = performance.now();

  get due(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  async rest(): Promise<void> {
    await setImmediate();
    this.#since = performance.now();
  }
}
