import { changeOf } from '../../../kit/resource.ts';
import { problem } from '../../../problems/problem.ts';
import { slotAfter, timingOf } from '../jobs/settings.ts';
import { pausableJobs } from '../jobs/store.ts';
import { requireMayBegin } from '../jobs/target.ts';
import { RUN_PRICE } from '../limits.ts';

export const resume = changeOf(pausableJobs)({
  method: 'POST',
  path: '/v1/cron/resume/{job_id}',
  summary: 'Lets a paused job run again.',
  description:
    'The next run is the first slot from now on: what was missed while it was paused is not made up for. When the run_at of a job has ' +
    'passed meanwhile, set another with update first. Resuming an active job answers it as it is.',
  keywords: ['unpause cron job', 'restart schedule', 'turn a schedule on'],
  laterPrices: [RUN_PRICE],
  errors: ['STATE_CONFLICT'],
  examples: [
    {
      title: 'Go on',
      before: [
        { capability: 'cron.create', input: { task: 'https://example.org/tasks/report', cron_expr: '0 9 * * *' } },
        { capability: 'cron.pause', input: { job_id: '$0.job_id' } },
      ],
      input: { job_id: '$0.job_id' },
      expect: { status: 'active' },
    },
  ],
  change(job, _input, { ctx, nowMs }) {
    if (job.status === 'active') return null;
    requireMayBegin(ctx.core, ctx.principal, job);
    const nextMs = slotAfter(timingOf(job), nowMs);
    if (nextMs === null) {
      throw problem('STATE_CONFLICT', { message: 'The time of the job has passed: set another with update.' });
    }
    return { status: 'active', next_run_at: nextMs, updated_at: nowMs };
  },
});
