import { subscribeOf } from '../../../jobs/operations/subscribe.ts';
import { oneSecond } from './examples.ts';

export const subscribe = subscribeOf('vid_', {
  path: '/v1/video/webhook/subscribe/{job_id}',
  summary: 'Names a URL that is told of the end of a job.',
  description:
    'The URL is POSTed video.job.completed or video.job.failed once, in the form of webhooks and signed with the secret of ' +
    'GET /v1/account/webhooks/default_secret; also when the job has ended already. It is tried again as webhooks are.',
  keywords: ['notify when the video is done', 'video callback'],
  examples: [
    {
      title: 'Tell me',
      before: [oneSecond],
      input: { job_id: '$0.job_id', webhook_url: 'https://example.org/videos' },
      expect: { webhook_url: 'https://example.org/videos' },
    },
  ],
});
