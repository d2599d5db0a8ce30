// One step of a job under its lease.
import type { LeasedJob } from '../../core/background/due-work.ts';
import type { JobRow } from '../row.ts';

/** A job whose step is leased to this process. */
export interface Step extends LeasedJob {
  readonly job: JobRow;
  /** What takes long, and how far it is: told with every renewal of the lease. Null: nothing does, and the lease outlasts the step. */
  doing: { readonly what: string; pct: number | null } | null;
}
