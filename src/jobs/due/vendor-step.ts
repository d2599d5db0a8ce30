// A step of a job at external vendors, and the job's attempts. At most one attempt is open: another is sent only when it is certain that no
// vendor works on the job.

import type { Queryable } from '../../db/database.ts';
import type { Services } from '../../kit/services.ts';
import { type AttemptRow, attemptsOf, endAttempt, vendorCallOf } from '../../routing/attempts.ts';
import { bookLoss, type LossCause } from '../../routing/bills.ts';
import type { JobAdapter, JobBill, VendorJob } from '../../vendors/call/job.ts';
import type { VendorCall } from '../../vendors/call/port.ts';
import { billedFor } from '../bill.ts';
import { endJob, type JobEnd } from '../end.ts';
import type { JobHost, JobTables, VendorStep } from '../kind.ts';
import { chainOf, type JobRow } from '../row.ts';
import { workOf } from '../shape.ts';
import { nextPauseMs } from './pace.ts';

/** The attempt that a vendor may be at work on; null: none is. */
export async function openAttempt(
  db: Queryable,
  { shape }: Pick<JobTables, 'shape'>,
  job: Pick<JobRow, 'account_id' | 'job_id'>,
): Promise<AttemptRow | null> {
  const attempts = await attemptsOf(db, job.account_id, workOf(shape, job));
  return attempts.findLast(({ ended_at }) => ended_at === null) ?? null;
}

/** The position in the chain that it was asked at. */
export function positionOf(job: JobRow, { vendor, model }: Pick<AttemptRow, 'vendor' | 'model'>): number {
  return chainOf(job).findIndex((link) => link.vendor === vendor && link.model === model);
}

export function adapterOf(
  { core, kind }: Pick<JobHost, 'core' | 'kind'>,
  { adapter }: Pick<AttemptRow, 'adapter'>,
): JobAdapter<unknown, unknown> {
  return core.vendors.adapter<JobAdapter<unknown, unknown>>(kind.tables.shape.name, adapter);
}

/** How its vendor is called; null when the key that it began with is not there any more. */
export function callOf(core: Services, attempt: AttemptRow, signal: AbortSignal): VendorCall | null {
  const call = vendorCallOf(core, attempt, signal);
  return attempt.key_name !== null && call.key === null ? null : call;
}

/** Of one that was accepted. */
export function vendorJobOf({ reference, details }: Pick<AttemptRow, 'reference' | 'details'>): VendorJob {
  if (reference === null) throw new Error('an attempt without a reference was not accepted');
  return { reference, details: JSON.parse(details ?? '{}') };
}

/** The job's next step is due in a while, at its deadline at the latest. */
export async function goOnLater(
  { host, step, job, nowMs }: VendorStep,
  next: { readonly pauseMs?: number; readonly progressPct?: number | null; readonly what?: string } = {},
): Promise<void> {
  const now = nowMs();
  const pauseMs = Math.max(next.pauseMs ?? 0, nextPauseMs(now - job.created_at));
  const { progressPct = null, what = job.current_step ?? undefined } = next;
  const dueMs = Math.min(now + pauseMs, Math.max(job.deadline_at, now));
  await host.kind.tables.steps.over(host.core.db, step, job, {
    dueMs,
    progressPct,
    ...(what === undefined ? {} : { what }),
  });
}

/** The vendor works: answers the job as it is then; null when the step is not ours any more, or the job has ended. */
export function vendorWorks({ host, step, job, nowMs }: VendorStep, what: string): Promise<JobRow | null> {
  const expectedMs = host.times.expectedMs(job.model, host.kind.unitsOf(job));
  return host.kind.tables.steps.runs(host.core.db, step, nowMs(), what, expectedMs);
}

/** Ends the job without a result: its caller pays nothing, and what the vendor bills all the same is a loss. */
export async function endWithout(
  { host, job }: VendorStep,
  attempt: AttemptRow,
  end: JobEnd,
  bill: JobBill,
  cause: LossCause,
): Promise<void> {
  const { account_id: accountId } = job;
  const { vendorNanos } = billedFor(host.kind, job, positionOf(job, attempt), bill);
  await endJob(host, job, end, {
    async also(tx, nowMs) {
      await endAttempt(tx, accountId, attempt.attempt_id, nowMs);
      await bookLoss(tx, { accountId, vendor: attempt.vendor, billedNanos: vendorNanos, cause }, nowMs);
    },
  });
}
