// Per-process state of the cron module: the loop of its runs.
import { dueWork } from '../../core/background/due-work.ts';
import type { JobLoop } from '../../core/background/job-loop.ts';
import type { Services } from '../../kit/services.ts';
import { RUNS, RUNS_AT_ONCE, RUNS_PER_CLAIM } from './limits.ts';
import { makeRun } from './runs/attempt.ts';
import { type ClaimedRun, claimRuns } from './runs/claim.ts';
import { putBackRun } from './runs/store.ts';

export interface CronState {
  readonly core: Services;
  readonly runner: JobLoop;
}

/**
 * An account with many due jobs, or with tasks that never answer, does not keep the others waiting, and the run of a process that died
 * is made again.
 */
export function createCronState(core: Services): CronState {
  return { core, runner: createRunner(core) };
}

/** The loop of one process. */
function createRunner(core: Services): JobLoop {
  return dueWork<ClaimedRun>(core, {
    name: RUNS,
    places: RUNS_AT_ONCE,
    perClaim: RUNS_PER_CLAIM,
    claim: (tx, accountId, wanted) => claimRuns(core, tx, accountId, wanted),
    run: (claimed, signal) => makeRun(core, claimed, signal),
    putBack: (tx, { run }, dueMs) => putBackRun(tx, run, dueMs),
  });
}
