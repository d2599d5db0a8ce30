// Runs all sweeps of a process, each in its own loop.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { Metric } from '../../process/metric.ts';
import type { ProcessRegistry } from '../../process/processes.ts';
import type { WorkServices } from '../due-work.ts';
import { Lease } from '../lease.ts';
import type { Sweep } from './sweep.ts';
import { SweepLoop } from './sweep-loop.ts';

interface SweeperOptions {
  readonly core: WorkServices & { readonly processes: ProcessRegistry };
  readonly sweeps: readonly Sweep[];
}

const STOP_MS = 5_000;
// Beside a holder's own interval: how long a dead one is waited for.
const LEASE_MIN_MS = 10_000;

export class Sweeper {
  readonly #loops: readonly SweepLoop[];
  readonly #log: SweeperOptions['core']['log'];
  readonly #stopping = new AbortController();
  #lives: Promise<unknown> = Promise.resolve();

  constructor({ core, sweeps }: SweeperOptions) {
    this.#log = core.log;
    this.#loops = sweeps.map((sweep) => {
      const leaseMs = LEASE_MIN_MS + 1.5 * sweep.intervalMs;
      const lease = sweep.perProcess === true ? null : sweepLease(core.db, sweep.name, core.processes.id, leaseMs);
      return new SweepLoop(sweep, lease, core.log);
    });
  }

  start(): void {
    this.#lives = Promise.all(this.#loops.map((loop) => loop.live(this.#stopping.signal)));
  }

  /** Starts no new run and waits for those under way, at most five seconds: every step is a transaction, so none is left half done. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const bound = new AbortController();
    const timedOut = sleep(STOP_MS, 'timeout', { signal: bound.signal }).catch(() => undefined);
    const first = await Promise.race([this.#lives, timedOut]);
    bound.abort();
    if (first === 'timeout') this.#log.warn({ waitedMs: STOP_MS }, 'background tasks were still running at the stop');
  }

  /** How each task fares, for /metrics. */
  metrics(): Metric[] {
    return this.#loops.flatMap((loop) => loop.metrics());
  }
}

// The lease of a sweep: a row of core.sweep_lease by its name.

const addLease = statement(
  'lease_add',
  `INSERT INTO core.sweep_lease (name, holder, lease_until) VALUES ($1, '', '-infinity') ON CONFLICT (name) DO NOTHING`,
);
const takeLease = statement(
  'lease_take',
  `UPDATE core.sweep_lease
      SET holder = $2, lease_until = clock_timestamp() + $3 * interval '1 millisecond'
    WHERE name = $1 AND (holder = $2 OR lease_until < clock_timestamp())`,
);
const dropLease = statement(
  'lease_drop',
  `UPDATE core.sweep_lease SET lease_until = '-infinity' WHERE name = $1 AND holder = $2`,
);

/** `holder`: this process. */
function sweepLease(db: Database, name: string, holder: string, leaseMs: number): Lease {
  let isAdded = false;
  return new Lease({
    leaseMs,
    async take() {
      if (!isAdded) await db.query(addLease, [name]);
      isAdded = true;
      return (await db.query(takeLease, [name, holder, leaseMs])).count === 1;
    },
    async drop() {
      await db.query(dropLease, [name, holder]);
    },
  });
}
