// The background jobs that the core itself runs.

import type { JobLoop } from '../background/job-loop.ts';
import type { Core } from '../context.ts';
import { eventJobs } from '../events/event-jobs.ts';
import { Deliverer } from '../webhooks/deliveries/deliverer.ts';

export function coreJobs(core: Core): JobLoop[] {
  return [eventJobs(core), new Deliverer(core).loop as JobLoop];
}
