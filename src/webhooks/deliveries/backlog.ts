// Number of events and deliveries that are waiting, for operators: `qm doctor` and /metrics.

import type { Sweep } from '../../core/background/sweeper/sweep.ts';
import type { Metric } from '../../core/process/metric.ts';
import type { Database, Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';

export interface Backlog {
  /** Committed events without a number yet. */
  readonly eventsWaiting: number;
  /** Deliveries that could be attempted now. */
  readonly deliveriesDue: number;
  /** For how long the oldest of these has been due; 0 when there is none. */
  readonly oldestDueSeconds: number;
}

const INTERVAL_MS = 15_000;
/** A process that does not count any more tells nothing old. */
const TOLD_FOR_MS = 4 * INTERVAL_MS;

const countBacklog = statement(
  'webhook_count_backlog',
  `/* fan-out: what waits, in all accounts */
   SELECT o.events, d.deliveries, coalesce(extract(epoch FROM core.clock_now() - d.oldest), 0)::float8 AS oldest
     FROM (SELECT count(*) AS events FROM core.event_outbox) o,
          (SELECT count(*) AS deliveries, min(due_at) AS oldest
             FROM core.delivery
            WHERE due_at IS NOT NULL AND due_at <= core.clock_now()) d`,
);

export async function backlogOf(db: Queryable): Promise<Backlog> {
  const { rows } = await db.query<{ events: bigint; deliveries: bigint; oldest: number }>(countBacklog, []);
  const { events, deliveries, oldest } = rows[0] as (typeof rows)[number];
  return {
    eventsWaiting: Number(events),
    deliveriesDue: Number(deliveries),
    oldestDueSeconds: Math.round(oldest * 1_000) / 1_000,
  };
}

/** Counts at an interval, on one process of the deployment: the count reads every due delivery, too much for each scrape. */
export class BacklogGauge {
  readonly #db: Database;
  #latest: Backlog | null = null;
  #atMs = 0;

  constructor(db: Database) {
    this.#db = db;
  }

  sweep(): Sweep {
    return {
      name: 'webhooks.backlog',
      intervalMs: INTERVAL_MS,
      run: async () => {
        this.#latest = await backlogOf(this.#db);
        this.#atMs = performance.now();
        return false;
      },
    };
  }

  metrics(): Metric[] {
    if (this.#latest === null || performance.now() - this.#atMs > TOLD_FOR_MS) return [];
    const metric = (name: string, help: string, value: number): Metric => ({ name, help, labels: {}, value });
    const { eventsWaiting, deliveriesDue, oldestDueSeconds } = this.#latest;
    return [
      metric('qm_events_waiting', 'Committed events that have no number yet, in the deployment.', eventsWaiting),
      metric('qm_deliveries_due', 'Webhook deliveries that could be attempted now, in the deployment.', deliveriesDue),
      metric('qm_deliveries_oldest_due_seconds', 'For how long the oldest of them has been due.', oldestDueSeconds),
    ];
  }
}
