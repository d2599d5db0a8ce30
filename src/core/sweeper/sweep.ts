// One background task: safe to run on several processes, since each run holds a lease row and each step is a transaction of its own.
export interface Sweep {
  readonly name: string;
  readonly intervalMs: number;
  /** Does a bounded piece of work; answers true when there is more to do at once. */
  run(signal: AbortSignal): Promise<boolean>;
}
