// A clock for background work that stands still while that work goes on, and what the breaker of a vendor knows.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/db/database.ts';
import type { Services } from '../../src/kit/services.ts';
import { eventually } from '../cron/harness.ts';
import { setClock } from '../wallet/clock.ts';
import type { Data } from './harness.ts';

/** What was counted of a vendor; or how long it is not asked, and why. */
export type Breaker =
  | { readonly calls: number; readonly failures: number }
  | { readonly state: string; readonly reason: string; readonly retryInMs: number };

const countDue = {
  name: 'test_count_due',
  text: 'SELECT count(*)::int AS due FROM video.job WHERE leased OR due_at <= core.clock_now()',
};
/** Nothing is claimed meanwhile; no statement on a cluster locks the rows of several accounts. */
const holdJobs = { name: 'test_hold_jobs', text: 'LOCK TABLE video.job IN EXCLUSIVE MODE' };
const readRow = {
  name: 'test_read_health',
  text: `SELECT state, reason, retry_at FROM core.vendor_health WHERE vendor = $1 AND capability = 'video.generate'`,
};
const readCalls = {
  name: 'test_read_calls',
  text: `SELECT coalesce(sum(calls), 0)::int AS calls, coalesce(sum(failures), 0)::int AS failures
           FROM core.vendor_calls WHERE vendor = $1 AND capability = 'video.generate'`,
};

export class BackgroundClock {
  readonly #core: Services;
  /** When it stopped. */
  readonly startMs: number;

  private constructor(core: Services, startMs: number) {
    this.#core = core;
    this.startMs = startMs;
  }

  static async stop(core: Services): Promise<BackgroundClock> {
    const clock = new BackgroundClock(core, Math.floor(Date.now() / 1_000) * 1_000 + 1_000);
    await clock.#set(clock.startMs);
    return clock;
  }

  /** So long after the start, once everything that is due then is done. */
  async at(ms: number): Promise<void> {
    await this.#set(this.startMs + ms);
    await this.idle();
  }

  /** No job goes on before what the process knows of vendors has the same time. */
  async #set(ms: number): Promise<void> {
    const { db, vendors } = this.#core;
    await db.transaction(async (tx) => {
      await tx.query(holdJobs, []);
      await setClock(db, ms);
      await vendors.health.sync();
    });
  }

  /** No step of a job is due or under way. */
  async idle(): Promise<void> {
    await eventually(async () => {
      const [row] = (await this.#core.db.query<{ due: number }>(countDue, [])).rows;
      if (row?.due === 0) return true;
      await sleep(20);
      return null;
    }, 60_000);
  }
}

export async function breakerOf(db: Database, vendor: string, startMs: number): Promise<Breaker> {
  const [row] = (await db.query<Data>(readRow, [vendor])).rows;
  if (row !== undefined) return { state: row.state, reason: row.reason, retryInMs: row.retry_at - startMs };
  return (await db.query<Data>(readCalls, [vendor])).rows[0] as Data;
}
