// The background jobs that the core itself runs.
import type { Core } from '../context.ts';
import { eventJobs } from '../events/event-jobs.ts';
import { Deliverer } from '../webhooks/deliverer.ts';
import type { JobLoop } from './job-loop.ts';

export function coreJobs(core: Core): JobLoop[] {
  return [eventJobs(core), new Deliverer(core).loop as JobLoop];
}
