// The loop of one sweep in one process: wait, take the lease, run, repeat. Failures are logged and retried with backoff.
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs, jitteredMs } from '../../../lib/backoff.ts';
import type { Logger } from '../../process/logger.ts';
import type { Metric } from '../../process/metric.ts';
import type { Lease } from '../lease.ts';
import type { Sweep } from './sweep.ts';

const BACKOFF_MIN_MS = 1_000;
const BACKOFF_MAX_MS = 60_000;
/** A process without the lease looks no more often than this. */
const LOOK_MS = 1_000;

export class SweepLoop {
  readonly #sweep: Sweep;
  readonly #lease: Lease | null;
  readonly #log: Logger;
  /** Epoch milliseconds of the last run that succeeded here; 0 when none has. */
  #lastRunAtMs = 0;
  #lastDurationMs = 0;
  #runs = 0;
  #failures = 0;
  #failuresInRow = 0;

  /** `lease` is null for what every process runs. */
  constructor(sweep: Sweep, lease: Lease | null, log: Logger) {
    this.#sweep = sweep;
    this.#lease = lease;
    this.#log = log;
  }

  /** How the task fares, for /metrics. */
  metrics(): Metric[] {
    const metric = (unit: string, help: string, value: number): Metric => ({
      name: `qm_sweep_${unit}`,
      help,
      labels: { sweep: this.#sweep.name },
      value,
    });
    return [
      metric(
        'last_run_timestamp_seconds',
        'When a background task last succeeded on this process; 0 for never.',
        this.#lastRunAtMs / 1000,
      ),
      metric('last_duration_seconds', 'How long its last run took.', this.#lastDurationMs / 1000),
      metric('runs_total', 'Successful runs on this process.', this.#runs),
      metric('failures_total', 'Failed runs on this process.', this.#failures),
    ];
  }

  /** Resolves after `signal` is aborted and the run under way has ended. Never rejects. */
  async live(signal: AbortSignal): Promise<void> {
    let pauseMs = Math.random() * this.#sweep.intervalMs;
    while (await pause(pauseMs, signal)) pauseMs = await this.#turn(signal);
    try {
      await this.#lease?.drop();
    } catch (error) {
      this.#log.warn({ err: error, sweep: this.#sweep.name }, 'a lease could not be given back; it ends by itself');
    }
  }

  /** One run; answers the pause before the next. */
  async #turn(signal: AbortSignal): Promise<number> {
    const { name, intervalMs } = this.#sweep;
    try {
      if (this.#lease !== null && !(await this.#lease.take())) return jitteredMs(Math.max(intervalMs, LOOK_MS));
      const more = await this.#run(signal);
      this.#failuresInRow = 0;
      return more ? 0 : jitteredMs(intervalMs);
    } catch (error) {
      this.#failures += 1;
      this.#failuresInRow += 1;
      const { backoffMaxMs: maxMs = BACKOFF_MAX_MS } = this.#sweep;
      const retryInMs = backoffMs({ firstMs: Math.max(BACKOFF_MIN_MS, intervalMs), maxMs }, this.#failuresInRow);
      this.#log.error(
        { err: error, sweep: name, failuresInRow: this.#failuresInRow, retryInMs },
        'background task failed',
      );
      return retryInMs;
    }
  }

  async #run(signal: AbortSignal): Promise<boolean> {
    const begunMs = performance.now();
    const lost = new AbortController();
    const renewal = this.#lease === null ? undefined : setInterval(() => void this.#renew(lost), LOOK_MS).unref();
    try {
      const more = await this.#sweep.run(AbortSignal.any([signal, lost.signal]));
      this.#runs += 1;
      this.#lastRunAtMs = Date.now();
      return more;
    } finally {
      clearInterval(renewal);
      this.#lastDurationMs = performance.now() - begunMs;
    }
  }

  /** A long run keeps its lease; one that has lost it is told to stop. */
  async #renew(lost: AbortController): Promise<void> {
    try {
      if (!(await (this.#lease as Lease).take())) lost.abort();
    } catch (error) {
      this.#log.warn({ err: error, sweep: this.#sweep.name }, 'a lease could not be renewed');
      if (!(this.#lease as Lease).isOurs) lost.abort();
    }
  }
}

/** False as soon as `signal` is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    // Also without a pause other work of the process gets its turn.
    await sleep(ms, undefined, { signal, ref: false });
    return !signal.aborted;
  } catch {
    return false;
  }
}
