// The names that tell one module's jobs from another's: tables, kinds of background work, and owners of holds.
import type { JobRow } from './row.ts';

export interface JobShape {
  /** The module: its capabilities, the schema of its tables, and owners of holds begin so. */
  readonly name: 'video' | 'image';
  /** `vid_`. */
  readonly idPrefix: string;
  /** The column of what was made. */
  readonly madeColumn: 'film' | 'made';
}

export const vendorWorkOf = ({ name }: Pick<JobShape, 'name'>) => `${name}.vendor`;
export const sandboxWorkOf = ({ name }: Pick<JobShape, 'name'>) => `${name}.sandbox`;
export const webhookWorkOf = ({ name }: Pick<JobShape, 'name'>) => `${name}.webhooks`;
/** As attempts and holds name their work. */
export const workOf = ({ name }: Pick<JobShape, 'name'>, { job_id }: Pick<JobRow, 'job_id'>) => `${name}:${job_id}`;
