// The background jobs that the core itself runs.
import type { Core } from '../context.ts';
import type { JobLoop } from './job-loop.ts';

export function coreJobs(_core: Core): JobLoop[] {
  return [];
}
