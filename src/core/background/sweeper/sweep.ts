// One background task. It runs on one process at a time (under a lease), or on every process when it is about the process itself.
export interface Sweep {
  readonly name: string;
  readonly intervalMs: number;
  /** Runs on every process, without a lease. */
  readonly perProcess?: boolean;
  /** The longest pause after failures, before jitter; one minute when absent. */
  readonly backoffMaxMs?: number;
  /** Does a bounded piece of work, each step a transaction of its own; answers true when there is more to do at once. */
  run(signal: AbortSignal): Promise<boolean>;
}
