import { getJobOf } from '../../../jobs/operations/reads.ts';
import { jobSchema } from '../jobs/schemas.ts';
import { oneCard } from './examples.ts';

export const get = getJobOf('img_', jobSchema, {
  path: '/v1/image/get/{job_id}',
  summary: 'Shows an image job.',
  description:
    'The whole job: what was asked for, its state, links to its images, what it cost, which vendor worked. The links are made at each read and ' +
    'work for an hour.',
  keywords: ['image job details', 'generated image'],
  examples: [{ title: 'One job', before: [oneCard], input: { job_id: '$0.job_id' }, expect: { n: 1 } }],
});
