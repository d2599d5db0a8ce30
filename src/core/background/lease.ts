// A lease for work that only one process may do at a time: a row that its holder renews. When the lease of a dead holder expires, another
// process takes it. Uses real time, not clock_now(): a test clock must not give one lease to two processes.

export interface LeaseOptions {
  readonly leaseMs: number;
  /** Takes or renews the row for `leaseMs`. False when another process has it, or it is gone. */
  take(): Promise<boolean>;
  /** Lets another process take over at once. */
  drop(): Promise<void>;
}

export class Lease {
  readonly #options: LeaseOptions;
  #oursUntilMs: number;

  /** `oursUntilMs`: until when (performance.now()) it is taken already. */
  constructor(options: LeaseOptions, oursUntilMs = 0) {
    this.#options = options;
    this.#oursUntilMs = oursUntilMs;
  }

  /** performance.now() until which it is surely ours: counted from before it was asked for. */
  get oursUntilMs(): number {
    return this.#oursUntilMs;
  }

  get isOurs(): boolean {
    return performance.now() < this.#oursUntilMs;
  }

  /** Takes or renews it, without asking the database while more than half of it is left. */
  async take(): Promise<boolean> {
    const { leaseMs } = this.#options;
    const nowMs = performance.now();
    if (this.#oursUntilMs - nowMs > leaseMs / 2) return true;
    const isTaken = await this.#options.take();
    this.#oursUntilMs = isTaken ? nowMs + leaseMs : 0;
    return isTaken;
  }

  async drop(): Promise<void> {
    if (!this.isOurs) return;
    this.#oursUntilMs = 0;
    await this.#options.drop();
  }
}
