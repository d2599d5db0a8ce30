// Per-process state of the cron module: the loop of its runs.
import { dueWork } from '../../core/background/due-work.ts';
import type { JobLoop } from '../../core/background/job-loop.ts';
import type { Services } from '../../kit/services.ts';
import { LONG_RUNS, RENEW_EVERY_MS, RUNS, RUNS_AT_ONCE, RUNS_PER_CLAIM } from './limits.ts';
import { makeRun } from './runs/attempt.ts';
import { type ClaimedRun, claimRuns } from './runs/claim.ts';
import { putBackRun, renewRun } from './runs/store.ts';

export interface CronState {
  readonly core: Services;
  readonly runners: readonly JobLoop[];
}

/**
 * An account with many due jobs, or with tasks that never answer, does not keep the others waiting, and the run of a process that died
 * is made again. Runs that may take minutes have a loop of their own.
 */
export function createCronState(core: Services): CronState {
  const { longCalls } = core.bounds.all;
  return { core, runners: [runnerOf(core, RUNS, RUNS_AT_ONCE, false), runnerOf(core, LONG_RUNS, longCalls, true)] };
}

/** A loop of one process. */
function runnerOf(core: Services, name: string, places: number, areLong: boolean): JobLoop {
  return dueWork<ClaimedRun>(core, {
    name,
    places,
    perClaim: RUNS_PER_CLAIM,
    claim: (tx, accountId, wanted) => claimRuns(core, tx, accountId, wanted, areLong),
    run: (claimed, signal, lost) => makeRun(core, claimed, signal, lost),
    renewal: { everyMs: RENEW_EVERY_MS, renew: ({ run }) => renewRun(core.db, run) },
    putBack: (tx, { run }, dueMs) => putBackRun(tx, run, dueMs),
  });
}
