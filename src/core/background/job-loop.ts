// Background jobs of one kind on one process: claim due jobs, run them with bounded concurrency, poll again. The module's own tables hold the
// truth. A claim is a lease there, so a killed process loses no job: it is claimed again.
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../../lib/backoff.ts';
import { Waker } from '../../lib/waker.ts';
import type { Logger } from '../process/logger.ts';
import type { Metric } from '../process/metric.ts';

export interface JobLoopOptions<Job> {
  readonly name: string;
  readonly log: Logger;
  /** Jobs running at once on this process. */
  readonly concurrency: number;
  /** How often it looks for due jobs when nobody wakes it. */
  readonly intervalMs: number;
  /** Claims up to `room` due jobs, fairly across accounts; none left when it answers an empty list. */
  take(room: number): Promise<readonly Job[]>;
  /** Runs one job and records how it went. `signal` aborts when the process cannot wait any longer: the job is then given back. */
  run(job: Job, signal: AbortSignal): Promise<void>;
  /** Gives back what the process has taken beyond its jobs; called once, at the stop, after the last job has ended. */
  onStop?(): Promise<void>;
  /** Further values for /metrics. */
  metrics?(): Metric[];
}

const FINISH_MS = 4_000;
const ABORTED_FINISH_MS = 1_000;
const BACKOFF = { firstMs: 500, maxMs: 30_000 };

export class JobLoop<Job = unknown> {
  readonly #options: JobLoopOptions<Job>;
  readonly #stopping = new AbortController();
  readonly #aborting = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #waker = new Waker();
  #life: Promise<void> = Promise.resolve();
  #finished = 0;
  #failures = 0;

  constructor(options: JobLoopOptions<Job>) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  /** Looks for due jobs now. A hint: losing one costs at most `intervalMs`. */
  wake(): void {
    this.#waker.wake();
  }

  /** Counts and tells a failure of ours. */
  reportFailure(error: unknown, fields: object, message: string): void {
    this.#failures += 1;
    this.#options.log.error({ err: error, jobs: this.name, ...fields }, message);
  }

  start(): void {
    this.#life = this.#live();
  }

  /** Claims nothing more, and waits for what runs: four seconds for it to end by itself, one more after it was told to. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#life;
    if (!(await this.#idleWithin(FINISH_MS))) {
      this.#aborting.abort();
      if (!(await this.#idleWithin(ABORTED_FINISH_MS))) {
        const running = this.#running.size;
        this.#options.log.warn({ jobs: this.name, running }, 'background jobs were still running at the stop');
      }
    }
    try {
      await this.#options.onStop?.();
    } catch (error) {
      this.#options.log.warn({ err: error, jobs: this.name }, 'what the jobs had taken could not be given back');
    }
  }

  metrics(): Metric[] {
    const metric = (unit: string, help: string, value: number): Metric => ({
      name: `qm_jobs_${unit}`,
      help,
      labels: { jobs: this.name },
      value,
    });
    return [
      metric('running', 'Background jobs running on this process.', this.#running.size),
      metric('finished_total', 'Background jobs that this process has run.', this.#finished),
      metric(
        'failures_total',
        'Background jobs, or searches for them, that failed by an error of ours.',
        this.#failures,
      ),
      ...(this.#options.metrics?.() ?? []),
    ];
  }

  async #live(): Promise<void> {
    let failuresInRow = 0;
    while (!this.#stopping.signal.aborted) {
      this.#waker.forget();
      try {
        const more = await this.#takeSome();
        failuresInRow = 0;
        if (!more) await this.#waker.within(this.#options.intervalMs);
      } catch (error) {
        failuresInRow += 1;
        const retryInMs = backoffMs(BACKOFF, failuresInRow);
        this.reportFailure(error, { retryInMs }, 'background jobs could not be claimed');
        await sleep(retryInMs, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => undefined);
      }
    }
  }

  /** True when there may be more to take at once. */
  async #takeSome(): Promise<boolean> {
    const room = this.#options.concurrency - this.#running.size;
    if (room <= 0) return false;
    const jobs = await this.#options.take(room);
    for (const job of jobs) this.#begin(job);
    return jobs.length > 0;
  }

  #begin(job: Job): void {
    const running = this.#options
      .run(job, this.#aborting.signal)
      .catch((error: unknown) => this.reportFailure(error, {}, 'a background job failed'))
      .finally(() => {
        if (this.#running.size >= this.#options.concurrency) this.wake();
        this.#running.delete(running);
        this.#finished += 1;
      });
    this.#running.add(running);
  }

  async #idleWithin(ms: number): Promise<boolean> {
    const timer = new AbortController();
    const timedOut = sleep(ms, undefined, { signal: timer.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.#running), timedOut]);
    timer.abort();
    return this.#running.size === 0;
  }
}
