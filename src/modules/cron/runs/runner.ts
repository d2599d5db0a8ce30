// The runs of this process: what is due is begun account by account, each within its share of places, so that an account with
// many due jobs, or with tasks that never answer, does not keep the others waiting.

import { JobLoop } from '../../../core/background/job-loop.ts';
import type { Core } from '../../../core/context.ts';
import { FairSlots } from '../../../lib/fair-slots.ts';
import { RUNS_AT_ONCE, RUNS_PER_CLAIM } from '../limits.ts';
import { makeRun } from './attempt.ts';
import { beginRuns, type ClaimedRun } from './claim.ts';
import { dueAccounts, lapsedRuns, postpone, takeOverRun } from './store.ts';

// Every account that can be refused a place holds one: so many and some more hold a newcomer too.
const LOOKED_AT = RUNS_AT_ONCE + 32;
// Transactions at once; each waits for the wallet of its account. Most of the pool is left to everything else.
const CLAIMS_AT_ONCE = 3;
const LOOK_EVERY_MS = 500;

/** The loop of one process. */
export function createRunner(core: Core): JobLoop {
  const runner = new Runner(core);
  const loop: JobLoop<ClaimedRun> = new JobLoop<ClaimedRun>({
    name: 'cron.runs',
    log: core.log,
    concurrency: RUNS_AT_ONCE,
    intervalMs: LOOK_EVERY_MS,
    take: (room) => runner.take(room),
    // A place is free again: the account may have more that is due.
    run: (claimed, signal) => runner.run(claimed, signal).finally(() => loop.wake()),
  });
  return loop as JobLoop;
}

class Runner {
  readonly #core: Core;
  readonly #slots = new FairSlots(RUNS_AT_ONCE);
  /** By their ids: a lease that ends while its process is merely slow is not for this process to take over. */
  readonly #running = new Set<string>();

  constructor(core: Core) {
    this.#core = core;
  }

  async take(room: number): Promise<ClaimedRun[]> {
    const lapsed = await this.#takeLapsed(room);
    return lapsed.length > 0 ? lapsed : this.#begin(room);
  }

  async run(claimed: ClaimedRun, signal: AbortSignal): Promise<void> {
    const { account_id, run_id } = claimed.run;
    try {
      await makeRun(this.#core, claimed, signal);
    } finally {
      this.#running.delete(run_id);
      this.#slots.release(account_id, 1);
    }
  }

  async #takeLapsed(room: number): Promise<ClaimedRun[]> {
    const taken: ClaimedRun[] = [];
    for (const { account_id, run_id } of await lapsedRuns(this.#core.db, LOOKED_AT)) {
      if (taken.length >= room) break;
      if (this.#running.has(run_id) || this.#slots.reserve(account_id, 1) === 0) continue;
      try {
        const claimed = await takeOverRun(this.#core.db, account_id, run_id);
        if (claimed === null) this.#slots.release(account_id, 1);
        else taken.push(this.#noted(claimed));
      } catch (error) {
        this.#slots.release(account_id, 1);
        if (taken.length === 0) throw error;
        // What was taken is run all the same.
        this.#core.log.error({ err: error, runId: run_id }, 'a run could not be taken over');
        break;
      }
    }
    return taken;
  }

  async #begin(room: number): Promise<ClaimedRun[]> {
    const accounts = (await dueAccounts(this.#core.db, LOOKED_AT)).values();
    const begun: ClaimedRun[] = [];
    const failures: unknown[] = [];
    let left = room;
    const beginSome = async () => {
      for (const accountId of accounts) {
        const places = this.#slots.reserve(accountId, Math.min(RUNS_PER_CLAIM, left));
        if (places === 0) continue;
        left -= places;
        let unused = places;
        try {
          const runs = await beginRuns(this.#core, accountId, places);
          unused -= runs.length;
          begun.push(...runs.map((run) => this.#noted(run)));
        } catch (error) {
          failures.push(error);
          await this.#putOff(accountId, error);
        }
        this.#slots.release(accountId, unused);
        left += unused;
      }
    };
    await Promise.all(Array.from({ length: CLAIMS_AT_ONCE }, beginSome));
    if (begun.length === 0 && failures.length > 0) throw failures[0];
    return begun;
  }

  #noted(claimed: ClaimedRun): ClaimedRun {
    this.#running.add(claimed.run.run_id);
    return claimed;
  }

  /** One account that fails must not be found first again at once. */
  async #putOff(accountId: string, error: unknown): Promise<void> {
    this.#core.log.error({ err: error, accountId }, 'the runs of an account could not be begun');
    try {
      await postpone(this.#core.db, accountId);
    } catch (cause) {
      this.#core.log.error({ err: cause, accountId }, 'nor could the account be put off');
    }
  }
}
