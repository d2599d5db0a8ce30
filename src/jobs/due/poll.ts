// Polls a vendor for the state of a job. Its answer is authoritative; callbacks only bring the poll forward. A failed poll says nothing about
// the job.

import { problem } from '../../problems/problem.ts';
import { type AttemptRow, saveAttemptDetails } from '../../routing/attempts.ts';
import type { JobBill, JobProgress } from '../../vendors/call/job.ts';
import { billFrom } from '../bill.ts';
import type { VendorStep } from '../kind.ts';
import { progressAfter } from '../progress.ts';
import { adapterOf, callOf, endWithout, goOnLater, vendorJobOf, vendorWorks } from './vendor-step.ts';

const NO_KEY_PAUSE_MS = 60_000;

export async function pollVendor(vendorStep: VendorStep, attempt: AttemptRow): Promise<void> {
  const { host, job, signal } = vendorStep;
  const { core } = host;
  const call = callOf(core, attempt, signal);
  if (call === null) {
    const { vendor, key_name: key } = attempt;
    core.log.error(
      { jobId: job.job_id, vendor, key },
      'a job cannot be asked for: the key that it was begun with is gone',
    );
    return goOnLater(vendorStep, { pauseMs: NO_KEY_PAUSE_MS });
  }
  const vendorJob = vendorJobOf(attempt);
  const progress = await adapterOf(host, attempt).poll(call, vendorJob);
  switch (progress.kind) {
    case 'queued':
      return goOnLater(vendorStep, { what: 'queued at the vendor' });
    case 'running':
      return goesOn(vendorStep, attempt, progress);
    case 'unanswered':
      core.log.info(
        { jobId: job.job_id, vendor: attempt.vendor, breaker: progress.breaker.kind },
        'a vendor has not said how far a job is',
      );
      return goOnLater(vendorStep, progress.breaker.kind === 'waits' ? { pauseMs: progress.breaker.ms } : {});
    case 'succeeded': {
      const billed = { ...vendorJob.details, [BILLED]: JSON.stringify(progress.bill) };
      if (vendorJob.details[BILLED] !== billed[BILLED])
        await saveAttemptDetails(core.db, job.account_id, attempt.attempt_id, billed);
      return host.vendorWork.take(vendorStep, attempt, call, progress);
    }
    default:
      return over(vendorStep, attempt, progress);
  }
}

/** Among what the adapter keeps of a job: what its vendor billed, once it had made it. */
const BILLED = 'qm_billed';

async function goesOn(
  vendorStep: VendorStep,
  attempt: AttemptRow,
  { progressPct, step: word, warning }: Extract<JobProgress<unknown>, { kind: 'queued' | 'running' }>,
): Promise<void> {
  const { host, job } = vendorStep;
  if (warning !== null)
    host.core.log.warn({ jobId: job.job_id, vendor: attempt.vendor, warning }, 'a vendor says what is not known');
  const running = await vendorWorks(vendorStep, 'rendering');
  if (running === null) return;
  await goOnLater(
    { ...vendorStep, job: running },
    {
      progressPct: progressAfter(running, progressPct, vendorStep.nowMs()),
      what: word?.slice(0, 100) ?? 'rendering',
    },
  );
}

type Over = Exclude<JobProgress<unknown>, { kind: 'queued' | 'running' | 'unanswered' | 'succeeded' }>;

/** It ended without a result. */
async function over(vendorStep: VendorStep, attempt: AttemptRow, progress: Over): Promise<void> {
  const { vendor } = attempt;
  switch (progress.kind) {
    case 'failed': {
      const { code, message, bill } = progress;
      // Not the vendor's words: they quote prompts.
      vendorStep.host.core.log.info({ jobId: vendorStep.job.job_id, vendor, code }, 'a vendor has failed at a job');
      return endWithout(vendorStep, attempt, { state: 'failed', problem: problem(code, { message }) }, bill, 'failed');
    }
    case 'expired':
      return endWithout(vendorStep, attempt, { state: 'expired', reason: 'vendor_expired' }, progress.bill, 'failed');
    case 'cancelled': {
      const end = {
        state: 'failed',
        problem: problem('VENDOR_ERROR', { message: 'The vendor has cancelled the job.' }),
      } as const;
      return endWithout(vendorStep, attempt, end, progress.bill, 'failed');
    }
    case 'gone': {
      const message = 'The vendor does not know the job any more.';
      return endWithout(
        vendorStep,
        attempt,
        { state: 'failed', problem: problem('VENDOR_ERROR', { message }) },
        billBefore(attempt),
        'failed',
      );
    }
  }
}

/** What the vendor billed when it had made it, though it has lost it since. */
function billBefore(attempt: AttemptRow): JobBill {
  const before = vendorJobOf(attempt).details[BILLED];
  return before === undefined ? 'nothing' : billFrom(before);
}
