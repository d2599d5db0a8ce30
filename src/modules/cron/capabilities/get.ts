import { getOf } from '../../../kit/resource.ts';
import { jobs } from '../jobs/store.ts';

export const get = getOf(jobs, {
  path: '/v1/cron/get/{id}',
  description: 'One job with its payload, when it is due next, and its latest run.',
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
      input: { id: '$0.id' },
      expect: { status: 'active', payload: { n: 1 }, last_run: null },
    },
  ],
});
