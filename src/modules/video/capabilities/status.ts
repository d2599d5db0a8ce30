import { statusOf } from '../../../jobs/operations/reads.ts';
import { oneSecond } from './examples.ts';

export const status = statusOf('vid_', {
  path: '/v1/video/status/{job_id}',
  summary: 'Shows how far a video job is.',
  description: 'Ask every second or two, or name a webhook_url and be told of the end.',
  keywords: ['video progress', 'is the video ready', 'poll render', 'is a video ready'],
  examples: [{ title: 'How far it is', before: [oneSecond], input: { job_id: '$0.job_id' } }],
});
