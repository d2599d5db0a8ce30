import { deleteOf } from '../../../kit/resource.ts';
import { jobs } from '../jobs/store.ts';

export const remove = deleteOf(jobs, {
  path: '/v1/cron/delete/{job_id}',
  description:
    'The job and the list of its runs are gone at once; a run that has begun is finished, and its event is still sent.',
  keywords: ['delete cron job', 'remove schedule'],
  examples: [
    {
      title: 'Not needed any more',
      before: [
        { capability: 'cron.create', input: { task: 'https://example.org/tasks/report', cron_expr: '0 9 * * *' } },
      ],
      input: { job_id: '$0.job_id' },
      expect: { deleted: true },
    },
  ],
  isStrict: true,
});
