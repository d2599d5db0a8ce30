// Vendor work after a job has ended. For a cancelled job the vendor's bill decides the charge; for all others the caller pays nothing for it,
// and the bill is a loss. The vendor is asked to stop, and polled for a day.

import type { Transaction } from '../../db/database.ts';
import { DAY_MS } from '../../lib/time.ts';
import { type AttemptRow, endAttempt } from '../../routing/attempts.ts';
import { bookLoss, bookSale, type LossCause } from '../../routing/bills.ts';
import type { JobBill } from '../../vendors/call/job.ts';
import { billedFor, nothing } from '../bill.ts';
import { settleMoney } from '../end.ts';
import type { VendorStep } from '../kind.ts';
import { UNKNOWN_OUTCOME_MS } from '../limits.ts';
import { endedOf, type JobRow } from '../row.ts';
import { seek } from './seek-attempt.ts';
import { askAttemptToStop, removeCopies } from './stop.ts';
import { adapterOf, callOf, positionOf, vendorJobOf } from './vendor-step.ts';

export const LOOK_AFTER_MS = 2_000;
const LOOK_EVERY_MS_MAX = 15 * 60_000;
/** Of the time since the job ended. */
const LOOK_SHARE = 0.1;

/** `attempt`: what a vendor may be at work on; null: nothing is. */
export async function afterEnd(vendorStep: VendorStep, attempt: AttemptRow | null): Promise<void> {
  const { host, step, job } = vendorStep;
  const { steps } = host.kind.tables;
  if (attempt === null) {
    if (isUnsettled(job)) await settleMoney(host, job, nothing);
    else await steps.over(host.core.db, step, job, { dueMs: null });
    return;
  }
  const bill = await billOf(vendorStep, attempt);
  if (bill !== null) return close(vendorStep, attempt, bill);
  if (isUnsettled(job) && vendorStep.nowMs() >= waitsUntilMs(job, attempt)) {
    await settleMoney(host, job, nothing, { lookInMs: LOOK_AFTER_MS });
    return;
  }
  const endedMs = job.finished_at as number;
  if (vendorStep.nowMs() >= endedMs + DAY_MS) return close(vendorStep, attempt, 'nothing');
  const pauseMs = Math.min(LOOK_EVERY_MS_MAX, Math.max(LOOK_AFTER_MS, LOOK_SHARE * (vendorStep.nowMs() - endedMs)));
  await steps.over(host.core.db, step, job, { dueMs: vendorStep.nowMs() + pauseMs });
}

const isUnsettled = ({ cost_nanos }: JobRow) => cost_nanos === null;

/** How long what is held waits for the vendor's word. */
function waitsUntilMs(job: JobRow, attempt: AttemptRow): number {
  return attempt.state === 'accepted' ? job.deadline_at : attempt.created_at + UNKNOWN_OUTCOME_MS;
}

/** What the vendor bills in the end; null: it goes on, or that is not known yet. */
async function billOf(vendorStep: VendorStep, attempt: AttemptRow): Promise<JobBill | null> {
  const { host } = vendorStep;
  if (attempt.state !== 'accepted') {
    await seek(vendorStep, attempt);
    return null;
  }
  const call = callOf(host.core, attempt, vendorStep.signal);
  if (call === null) return null;
  const progress = await adapterOf(host, attempt).poll(call, vendorJobOf(attempt));
  switch (progress.kind) {
    case 'queued':
    case 'running': {
      const cancellation = await askAttemptToStop(host, attempt, vendorStep.signal);
      return cancellation?.kind === 'stopped' ? cancellation.bill : null;
    }
    case 'unanswered':
      return null;
    case 'gone':
      return 'nothing';
    default:
      return progress.bill;
  }
}

async function close(vendorStep: VendorStep, attempt: AttemptRow, bill: JobBill): Promise<void> {
  const { host, step, job } = vendorStep;
  const { core } = host;
  const { account_id: accountId } = job;
  const { vendor } = attempt;
  const { vendorNanos: billedNanos, charge } = billedFor(host.kind, job, positionOf(job, attempt), bill);
  if (isUnsettled(job)) {
    const also = async (tx: Transaction, nowMs: number) => {
      await endAttempt(tx, accountId, attempt.attempt_id, nowMs);
      if (billedNanos > 0n)
        await bookSale(tx, { accountId, vendor, billedNanos, capturedNanos: charge.workNanos }, nowMs);
    };
    await settleMoney(host, job, charge, { also });
  } else {
    await core.db.transaction(async (tx) => {
      const nowMs = vendorStep.nowMs();
      if (!(await endAttempt(tx, accountId, attempt.attempt_id, nowMs))) return;
      await bookLoss(tx, { accountId, vendor, billedNanos, cause: causeOf(job) }, nowMs);
    }, accountId);
    await host.kind.tables.steps.over(core.db, step, job, { dueMs: null });
  }
  // What nobody will fetch need not be kept there.
  await removeCopies(host, job);
}

function causeOf(job: JobRow): LossCause {
  if (job.state === 'expired') return 'late';
  if (job.state === 'cancelled') return 'cancelled';
  return endedOf(job)?.error?.code_detail === 'outcome_unknown' ? 'outcome_unknown' : 'failed';
}
