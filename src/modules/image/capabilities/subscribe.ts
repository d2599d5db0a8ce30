import { subscribeOf } from '../../../jobs/operations/subscribe.ts';
import { oneCard } from './examples.ts';

export const subscribe = subscribeOf('img_', {
  path: '/v1/image/webhook/subscribe/{job_id}',
  summary: 'Names a URL that is told of the end of an image job.',
  description:
    'The URL is POSTed image.job.completed or image.job.failed once, in the form of webhooks and signed with the secret of ' +
    'GET /v1/account/webhooks/default_secret; also when the job has ended already. It is tried again as webhooks are.',
  keywords: ['notify when the image is done', 'image callback'],
  examples: [
    {
      title: 'Tell me',
      before: [oneCard],
      input: { job_id: '$0.job_id', webhook_url: 'https://example.org/images' },
      expect: { webhook_url: 'https://example.org/images' },
    },
  ],
});
