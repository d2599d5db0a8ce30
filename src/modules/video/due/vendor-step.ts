// A step of a job at vendors outside, and what the job has asked of them. Of its attempts at most one is open: what is sent elsewhere is
// sent only when it is certain that nobody works on it.
import type { Core } from '../../../core/context.ts';
import { type AttemptRow, attemptsOf, endAttempt, vendorCallOf } from '../../../core/vendors/attempts.ts';
import { bookLoss, type LossCause } from '../../../core/vendors/bills.ts';
import type { Queryable } from '../../../db/database.ts';
import type { VendorCall } from '../../../vendors/call/port.ts';
import { billedFor } from '../jobs/bill.ts';
import { endJob, type JobEnd } from '../jobs/end.ts';
import { chainOf, type JobRow, wantedOf } from '../jobs/row.ts';
import type { VideoState } from '../state.ts';
import type { VendorJob, VideoAdapter, VideoBill } from '../vendors/port.ts';
import { nextPauseMs } from './pace.ts';
import { type Step, stepOver, stepRuns } from './steps.ts';

export interface VendorStep {
  readonly state: VideoState;
  readonly step: Step;
  readonly job: JobRow;
  /** By the clock of the database. */
  nowMs(): number;
  /** Aborts at the stop of the process. */
  readonly signal: AbortSignal;
  /** Aborts when another step has the job, or it has ended, of a step that says what it is doing. */
  readonly lost: AbortSignal;
}

/** As attempts and holds name their work. */
export const workOf = ({ job_id }: Pick<JobRow, 'job_id'>) => `video:${job_id}`;

/** The attempt that a vendor may be at work on; null: none is. */
export async function openAttempt(
  db: Queryable,
  job: Pick<JobRow, 'account_id' | 'job_id'>,
): Promise<AttemptRow | null> {
  const attempts = await attemptsOf(db, job.account_id, workOf(job));
  return attempts.findLast(({ ended_at }) => ended_at === null) ?? null;
}

/** The position in the chain that it was asked at. */
export function positionOf(job: JobRow, { vendor, model }: Pick<AttemptRow, 'vendor' | 'model'>): number {
  return chainOf(job).findIndex((link) => link.vendor === vendor && link.model === model);
}

export function adapterOf(core: Pick<Core, 'vendors'>, { adapter }: Pick<AttemptRow, 'adapter'>): VideoAdapter {
  return core.vendors.adapter<VideoAdapter>('video', adapter);
}

/** How its vendor is called; null when the key that it began with is not there any more. */
export function callOf(core: Core, attempt: AttemptRow, signal: AbortSignal): VendorCall | null {
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
  { state, step, job, nowMs }: VendorStep,
  next: { readonly pauseMs?: number; readonly progressPct?: number | null; readonly what?: string } = {},
): Promise<void> {
  const now = nowMs();
  const pauseMs = Math.max(next.pauseMs ?? 0, nextPauseMs(now - job.created_at));
  const { progressPct = null, what = job.current_step ?? undefined } = next;
  const dueMs = Math.min(now + pauseMs, Math.max(job.deadline_at, now));
  await stepOver(state.core.db, step, job, { dueMs, progressPct, ...(what === undefined ? {} : { what }) });
}

/** The vendor works: answers the job as it is then; null when the step is not ours any more, or the job has ended. */
export function vendorWorks({ state, step, job, nowMs }: VendorStep, what: string): Promise<JobRow | null> {
  const expectedMs = state.times.expectedMs(job.model, wantedOf(job).seconds);
  return stepRuns(state.core.db, step, nowMs(), what, expectedMs);
}

/** Ends the job without a video: its caller pays nothing, and what the vendor bills all the same is a loss. */
export async function endWithout(
  { state, job }: VendorStep,
  attempt: AttemptRow,
  end: JobEnd,
  bill: VideoBill,
  cause: LossCause,
): Promise<void> {
  const { account_id: accountId } = job;
  const { vendorNanos } = billedFor(job, positionOf(job, attempt), bill);
  await endJob(state, job, end, {
    async also(tx, nowMs) {
      await endAttempt(tx, accountId, attempt.attempt_id, nowMs);
      await bookLoss(tx, { accountId, vendor: attempt.vendor, billedNanos: vendorNanos, cause }, nowMs);
    },
  });
}
