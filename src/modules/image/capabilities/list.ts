import { listJobsOf } from '../../../jobs/operations/reads.ts';
import { jobSchema } from '../jobs/schemas.ts';

export const list = listJobsOf(jobSchema, {
  path: '/v1/image/list',
  summary: 'Lists the image jobs of the account.',
  description: 'Jobs of any state, newest first, page by page; records of ended jobs are kept for 90 days.',
  keywords: ['list images', 'image history'],
  examples: [{ title: 'What is being made', input: { state: 'running' }, expect: { has_more: false } }],
});
