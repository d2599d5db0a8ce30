// Which of the requests that have arrived goes on: at once while this turn of the event loop has time for more, else in a later turn,
// by turns of the addresses that they come from. In between the loop hears what else there is, and nobody waits for the thousand
// requests of another that the same turn has brought. Who has waited too long is late, and is told so before anything is done for him.
import { FairQueue } from '../../lib/fair-queue.ts';

export interface ArrivalOptions<T> {
  readonly sliceMs: number;
  readonly lateMs: number;
  readonly max: number;
  go(item: T, waitedMs: number): void;
  late(item: T): void;
}

export class Arrivals<T> {
  readonly #options: ArrivalOptions<T>;
  readonly #waiting: FairQueue<{ readonly item: T; readonly sinceMs: number }>;
  #begunMs = 0;
  #isOpen = false;

  constructor(options: ArrivalOptions<T>) {
    this.#options = options;
    this.#waiting = new FairQueue({ max: options.max, perOwnerMax: options.max });
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  add(owner: string, item: T): void {
    const nowMs = performance.now();
    if (!this.#isOpen) {
      this.#isOpen = true;
      this.#begin(nowMs);
    }
    if (this.#waiting.size === 0 && nowMs - this.#begunMs <= this.#options.sliceMs) this.#options.go(item, 0);
    else if (this.#waiting.push(owner, { item, sinceMs: nowMs }) !== null) this.#options.late(item);
  }

  #begin(nowMs: number): void {
    this.#begunMs = nowMs;
    setImmediate(() => this.#next());
  }

  #next(): void {
    if (this.#waiting.size === 0) {
      this.#isOpen = false;
      return;
    }
    const { sliceMs, lateMs, go, late } = this.#options;
    let nowMs = performance.now();
    this.#begin(nowMs);
    while (nowMs - this.#begunMs <= sliceMs) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      const waitedMs = nowMs - next.sinceMs;
      if (waitedMs <= lateMs) go(next.item, waitedMs);
      else late(next.item);
      nowMs = performance.now();
    }
  }
}
