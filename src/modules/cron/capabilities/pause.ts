import { changeOf } from '../../../kit/resource.ts';
import { pausableJobs } from '../jobs/store.ts';

export const pause = changeOf(pausableJobs)({
  method: 'POST',
  path: '/v1/cron/pause/{job_id}',
  summary: 'Stops the runs of a job for now.',
  description: 'No slot runs until resume. A run that has begun is finished. Pausing a paused job answers it as it is.',
  keywords: ['pause cron job', 'suspend schedule', 'stop a schedule temporarily'],
  errors: ['STATE_CONFLICT'],
  examples: [
    {
      title: 'Stop it for now',
      before: [
        { capability: 'cron.create', input: { task: 'https://example.org/tasks/report', cron_expr: '0 9 * * *' } },
      ],
      input: { job_id: '$0.job_id' },
      expect: { status: 'paused', next_run_at: null },
    },
  ],
  change: ({ status }, _input, { nowMs }) =>
    status === 'active' ? { status: 'paused', next_run_at: null, updated_at: nowMs } : null,
});
