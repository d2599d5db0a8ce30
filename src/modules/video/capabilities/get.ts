import { getJobOf } from '../../../jobs/operations/reads.ts';
import { jobSchema } from '../schemas.ts';
import { oneSecond } from './examples.ts';

export const get = getJobOf('vid_', jobSchema, {
  path: '/v1/video/get/{job_id}',
  summary: 'Shows a video job.',
  description:
    'The whole job: what was asked for, its state, links to the video and its thumbnail, what it cost, which vendor worked. The links are ' +
    'made at each read and work for an hour.',
  keywords: ['video job details', 'video result'],
  examples: [
    { title: 'One job', before: [oneSecond], input: { job_id: '$0.job_id' }, expect: { operation: 'generate' } },
  ],
});
