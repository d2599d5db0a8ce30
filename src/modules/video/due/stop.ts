// Asking whoever works on a job to stop, before it is cancelled. The sandbox bills nothing for what it has not finished, and its step ends when
// it next looks.

import type { Core } from '../../../core/context.ts';
import { type AttemptRow, attemptsOf, endAttempt } from '../../../core/vendors/attempts.ts';
import type { Transaction } from '../../../db/database.ts';
import { type EndOfCancel, stoppedUnbilled } from '../jobs/cancel.ts';
import { isLive, type JobRow } from '../jobs/row.ts';
import { VENDOR_WORK } from '../limits.ts';
import type { VideoCancellation } from '../vendors/port.ts';
import { adapterOf, callOf, openAttempt, vendorJobOf, workOf } from './vendor-step.ts';

const STOP_MS = 5_000;

/** What the vendor of an attempt said when it was asked to stop. */
export interface Said {
  readonly attemptId: string;
  readonly cancellation: VideoCancellation | null;
}

/** Asks the vendor that works on the job; null: none does. */
export async function askToStop(core: Core, job: JobRow): Promise<Said | null> {
  if (job.work !== VENDOR_WORK || !isLive(job.state)) return null;
  const attempt = await openAttempt(core.db, job);
  if (attempt === null) return null;
  return { attemptId: attempt.attempt_id, cancellation: await askAttemptToStop(core, attempt) };
}

/** Null: whether it works on it is not known, or it cannot be asked. */
export async function askAttemptToStop(
  core: Core,
  attempt: AttemptRow,
  signal?: AbortSignal,
): Promise<VideoCancellation | null> {
  if (attempt.state !== 'accepted') return null;
  const soon = AbortSignal.timeout(STOP_MS);
  const call = callOf(core, attempt, signal === undefined ? soon : AbortSignal.any([signal, soon]));
  if (call === null) return null;
  return adapterOf(core, attempt).cancel(call, vendorJobOf(attempt));
}

/** Asks the vendors that made something of the job to remove it; where they cannot, or do not answer, it goes when they remove it. */
export async function removeCopies(core: Core, job: JobRow): Promise<void> {
  const attempts = await attemptsOf(core.db, job.account_id, workOf(job));
  // What is still open is asked for its bill first: whoever closes it removes it.
  const made = attempts.filter(({ reference, ended_at }) => reference !== null && ended_at !== null);
  for (const attempt of made) {
    const adapter = adapterOf(core, attempt);
    const call = callOf(core, attempt, AbortSignal.timeout(STOP_MS));
    if (call === null || adapter.purge === undefined) continue;
    const isGone = await adapter.purge(call, vendorJobOf(attempt));
    if (!isGone)
      core.log.info({ jobId: job.job_id, vendor: attempt.vendor }, 'a video stays at its vendor until that removes it');
  }
}

/** How a job ends by a cancel, by what stands in the database while its row is locked, and by what its vendor said. */
export const cancelEnd =
  (said: Said | null): EndOfCancel =>
  async (tx, job) => {
    const attempt = job.work === VENDOR_WORK ? await openAttempt(tx, job) : null;
    if (attempt === null) return { end: stoppedUnbilled, options: {} };
    const cancellation = said?.attemptId === attempt.attempt_id ? said.cancellation : null;
    if (cancellation?.kind === 'stopped' && cancellation.bill === 'nothing') {
      const also = (_: Transaction, nowMs: number) => endAttempt(tx, job.account_id, attempt.attempt_id, nowMs);
      return { end: stoppedUnbilled, options: { also } };
    }
    const vendorStopped = {
      stopped: 'yes',
      impossible: 'impossible',
      requested: 'requested',
      unanswered: 'requested',
    } as const;
    const stands = { vendorStopped: vendorStopped[cancellation?.kind ?? 'requested'], mayBeCharged: true };
    return { end: { state: 'cancelled', cancel: stands, settles: false }, options: { lookInMs: 0 } };
  };
