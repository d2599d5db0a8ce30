// Asking whoever works on a job to stop, before it is cancelled.
import { type CancelEnd, stoppedUnbilled } from '../jobs/cancel.ts';
import type { JobRow } from '../jobs/row.ts';

/** How the job ends by a cancel. The sandbox bills nothing for what it has not finished; its step ends when it next looks. */
export function askToStop(_job: JobRow): CancelEnd {
  return stoppedUnbilled;
}
