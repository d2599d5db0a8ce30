import { statusOf } from '../../../jobs/operations/reads.ts';
import { oneCard } from './examples.ts';

export const status = statusOf('img_', {
  path: '/v1/image/status/{job_id}',
  summary: 'Shows how far an image job is.',
  description: 'Ask every second or two, or name a webhook_url and be told of the end.',
  keywords: ['image progress', 'is the image ready'],
  examples: [{ title: 'How far it is', before: [oneCard], input: { job_id: '$0.job_id' } }],
});
