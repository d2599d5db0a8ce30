import { getOf, type Resource } from '../../../kit/resource.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { type JobRow, jobDetailText } from '../jobs/records.ts';
import { jobs } from '../jobs/store.ts';
import { jobDetailSchema } from '../schemas.ts';
import type { CronState } from '../state.ts';

const detailed: Resource<JobRow, CronState, typeof jobDetailSchema> = {
  ...jobs,
  output: jobDetailSchema,
  show: (row, { ctx }) => new JsonText(jobDetailText(ctx.core.secrets, row)),
};

export const get = getOf(detailed, {
  path: '/v1/cron/get/{job_id}',
  description: 'One job with its payload, its next five runs, and its latest run.',
  keywords: ['cron job details', 'next run time'],
  examples: [
    {
      title: 'One job',
      before: [
        {
          capability: 'cron.create',
          input: { task: 'https://example.org/tasks/report', cron_expr: '0 9 * * *', payload: { n: 1 } },
        },
      ],
      input: { job_id: '$0.job_id' },
      expect: { status: 'active', payload: { n: 1 }, last_run: null },
    },
  ],
});
