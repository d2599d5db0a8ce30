// What the cron module keeps in one process.

import type { JobLoop } from '../../core/background/job-loop.ts';
import type { Core } from '../../core/context.ts';

export interface CronState {
  readonly core: Core;
  readonly runner: JobLoop;
}
