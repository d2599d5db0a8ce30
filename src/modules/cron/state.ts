// What the cron module keeps in one process.
import type { Core } from '../../core/context.ts';
import type { JobLoop } from '../../core/jobs/job-loop.ts';

export interface CronState {
  readonly core: Core;
  readonly runner: JobLoop;
}
