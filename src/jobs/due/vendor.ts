// Jobs at external vendors as background work. A step polls the vendor that works on the job, or submits it to the next of its chain. All state
// that later steps need is in the rows of the job and its attempts, so any process can continue it.

import { dueWork } from '../../core/background/due-work.ts';
import type { JobLoop } from '../../core/background/job-loop.ts';
import { DEATHS_MAX } from '../../core/background/suspects.ts';
import { type AttemptRow, endAttempt } from '../../routing/attempts.ts';
import { bookLoss } from '../../routing/bills.ts';
import { billedFor } from '../bill.ts';
import { endJob } from '../end.ts';
import type { JobHost, VendorStep } from '../kind.ts';
import { STEPS_AT_ONCE } from '../limits.ts';
import { isLive } from '../row.ts';
import { vendorWorkOf } from '../shape.ts';
import { afterEnd, LOOK_AFTER_MS } from './after-end.ts';
import { pollVendor } from './poll.ts';
import { seekJob } from './seek.ts';
import type { Step } from './step.ts';
import { claimedMs, givenUp } from './steps.ts';
import { askAttemptToStop } from './stop.ts';
import { submitJob } from './submit.ts';
import { openAttempt, positionOf } from './vendor-step.ts';

export function vendorLoop(host: JobHost): JobLoop {
  const { shape, steps } = host.kind.tables;
  const work = vendorWorkOf(shape);
  return dueWork<Step>(host.core, {
    name: work,
    places: STEPS_AT_ONCE,
    claim: (tx, accountId, wanted) => steps.claim(tx, work, accountId, wanted),
    run: (step, signal, lost) => runStep(host, step, signal, lost),
    renewal: steps.renewal(host.core),
    putBack: (tx, step, dueMs) => steps.due(tx, step, dueMs),
  });
}

async function runStep(host: JobHost, step: Step, signal: AbortSignal, lost: AbortSignal): Promise<void> {
  const aheadMs = claimedMs(step) - performance.now();
  const { job } = step;
  const vendorStep: VendorStep = { host, step, job, signal, lost, nowMs: () => performance.now() + aheadMs };
  const attempt = await openAttempt(host.core.db, host.kind.tables, job);
  if (!isLive(job.state)) return afterEnd(vendorStep, attempt);
  if (job.deaths >= DEATHS_MAX) return giveUp(vendorStep, attempt);
  if (vendorStep.nowMs() >= job.deadline_at) return expire(vendorStep, attempt);
  if (attempt === null) return submitJob(vendorStep);
  if (attempt.state === 'accepted') return pollVendor(vendorStep, attempt);
  return seekJob(vendorStep, attempt);
}

/** What the vendor bills for it all the same is seen to after the end. */
async function giveUp({ host, job }: VendorStep, attempt: AttemptRow | null): Promise<void> {
  const end = { state: 'failed', problem: givenUp(job) } as const;
  await endJob(host, job, end, attempt === null ? {} : { lookInMs: LOOK_AFTER_MS });
}

/** The job's time is over. What the vendor goes on to make is dropped, and what it bills for it a loss. */
async function expire({ host, job, signal }: VendorStep, attempt: AttemptRow | null): Promise<void> {
  const said = attempt === null ? null : await askAttemptToStop(host, attempt, signal);
  const bill = said?.kind === 'stopped' ? said.bill : null;
  const isOver = attempt === null || bill !== null;
  await endJob(
    host,
    job,
    { state: 'expired', reason: 'deadline' },
    {
      ...(isOver ? {} : { lookInMs: LOOK_AFTER_MS }),
      async also(tx, nowMs) {
        if (attempt === null || bill === null) return;
        const { vendorNanos } = billedFor(host.kind, job, positionOf(job, attempt), bill);
        await endAttempt(tx, job.account_id, attempt.attempt_id, nowMs);
        const { account_id: accountId } = job;
        await bookLoss(tx, { accountId, vendor: attempt.vendor, billedNanos: vendorNanos, cause: 'late' }, nowMs);
      },
    },
  );
}
