import { listJobsOf } from '../../../jobs/operations/reads.ts';
import { jobSchema } from '../schemas.ts';

const texts = {
  path: '/v1/video/list',
  summary: 'Lists the video jobs of the account.',
  description: 'Jobs of any state, newest first, page by page; records of ended jobs are kept for 90 days.',
  keywords: ['list videos', 'video history'],
  examples: [{ title: 'What is being made', input: { state: 'running' }, expect: { has_more: false } }],
};

export const list = listJobsOf(jobSchema, texts, 'Only what was made from this job.');
