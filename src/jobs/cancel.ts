// Cancels a live job: first the vendor that works on it, if any, is asked to stop; then the job ends. The vendor's answer decides whether the
// hold is released at once or waits for the bill.

import type { Transaction } from '../db/database.ts';
import { problem } from '../problems/problem.ts';
import { type Ending, type EndOptions, endJobIn, type JobEnd } from './end.ts';
import { isLive, type JobRow } from './row.ts';

/** How a job that is cancelled ends. */
export type EndOfCancel = (
  tx: Transaction,
  job: JobRow,
) => Promise<{ readonly end: CancelEnd; readonly options: EndOptions }>;

export type CancelEnd = Extract<JobEnd, { readonly state: 'cancelled' }>;

/** Of a job on which no vendor works: everything is given back. */
export const stoppedUnbilled: CancelEnd = {
  state: 'cancelled',
  cancel: { vendorStopped: 'yes', mayBeCharged: false },
  settles: true,
};

/**
 * Ends the job as cancelled and answers it as it is then; one that is cancelled already is answered as it is. Throws JOB_NOT_FOUND, and
 * STATE_CONFLICT for one that has ended otherwise. `endOf`: how it ends, by what stands in the database once the job is locked.
 */
export async function cancelIn(
  tx: Transaction,
  ending: Ending,
  job: JobRow,
  endOf: EndOfCancel,
  requestId: string,
): Promise<JobRow> {
  const now = await ending.kind.tables.store.lock(tx, job.account_id, job.job_id);
  if (now === null || now.deleted) throw problem('JOB_NOT_FOUND', { param: 'job_id' });
  if (now.state === 'cancelled') return now;
  if (!isLive(now.state)) {
    throw problem('STATE_CONFLICT', {
      param: 'job_id',
      detail: now.state,
      message: `The job is ${now.state} already.`,
    });
  }
  const { end, options } = await endOf(tx, now);
  const after = await endJobIn(tx, ending, now, end, { ...options, requestId });
  if (after === null) throw new Error('a locked job was ended by somebody else');
  return after;
}
