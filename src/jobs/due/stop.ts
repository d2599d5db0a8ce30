// Asks the vendor of a job to stop, before the job is cancelled. The sandbox bills nothing for unfinished work; its step ends at its next check.

import type { Transaction } from '../../db/database.ts';
import { type AttemptRow, attemptsOf, endAttempt } from '../../routing/attempts.ts';
import type { JobCancellation } from '../../vendors/call/job.ts';
import { type EndOfCancel, stoppedUnbilled } from '../cancel.ts';
import type { JobHost, JobKind } from '../kind.ts';
import { isLive, type JobRow } from '../row.ts';
import { vendorWorkOf, workOf } from '../shape.ts';
import { adapterOf, callOf, openAttempt, vendorJobOf } from './vendor-step.ts';

const STOP_MS = 5_000;

/** What the vendor of an attempt said when it was asked to stop. */
export interface Said {
  readonly attemptId: string;
  readonly cancellation: JobCancellation | null;
}

/** Asks the vendor that works on the job; null: none does. */
export async function askToStop(host: JobHost, job: JobRow): Promise<Said | null> {
  const { tables } = host.kind;
  if (job.work !== vendorWorkOf(tables.shape) || !isLive(job.state)) return null;
  const attempt = await openAttempt(host.core.db, tables, job);
  if (attempt === null) return null;
  return { attemptId: attempt.attempt_id, cancellation: await askAttemptToStop(host, attempt) };
}

/** Null: whether it works on it is not known, or it cannot be asked. */
export async function askAttemptToStop(
  host: JobHost,
  attempt: AttemptRow,
  signal?: AbortSignal,
): Promise<JobCancellation | null> {
  if (attempt.state !== 'accepted') return null;
  const soon = AbortSignal.timeout(STOP_MS);
  const call = callOf(host.core, attempt, signal === undefined ? soon : AbortSignal.any([signal, soon]));
  if (call === null) return null;
  return adapterOf(host, attempt).cancel(call, vendorJobOf(attempt));
}

/** Asks the vendors that made something of the job to remove it; where they cannot, or do not answer, it goes when they remove it. */
export async function removeCopies(host: JobHost, job: JobRow): Promise<void> {
  const { core, kind } = host;
  const attempts = await attemptsOf(core.db, job.account_id, workOf(kind.tables.shape, job));
  // What is still open is asked for its bill first: whoever closes it removes it.
  const made = attempts.filter(({ reference, ended_at }) => reference !== null && ended_at !== null);
  for (const attempt of made) {
    const adapter = adapterOf(host, attempt);
    const call = callOf(core, attempt, AbortSignal.timeout(STOP_MS));
    if (call === null || adapter.purge === undefined) continue;
    const isGone = await adapter.purge(call, vendorJobOf(attempt));
    if (!isGone)
      core.log.info(
        { jobId: job.job_id, vendor: attempt.vendor },
        'what was made stays at its vendor until that removes it',
      );
  }
}

/** How a job ends by a cancel, by what stands in the database while its row is locked, and by what its vendor said. */
export const cancelEnd =
  ({ tables }: Pick<JobKind, 'tables'>, said: Said | null): EndOfCancel =>
  async (tx, job) => {
    const attempt = job.work === vendorWorkOf(tables.shape) ? await openAttempt(tx, tables, job) : null;
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
