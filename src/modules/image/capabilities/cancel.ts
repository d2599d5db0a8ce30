import { cancelOf } from '../../../jobs/operations/ends.ts';
import { jobSchema } from '../jobs/schemas.ts';
import { endless } from './examples.ts';

export const cancel = cancelOf('img_', 'image.job.failed', jobSchema, {
  path: '/v1/image/cancel/{job_id}',
  summary: 'Cancels an image job.',
  description:
    'The job ends at once. Before a vendor has accepted it nothing is charged; afterwards the vendor is asked to stop, and what it bills ' +
    'all the same is charged: `cancel` says how that stands, and cost_usd is null until it is settled. A repeat answers the same job.',
  keywords: ['stop an image', 'abort image job'],
  examples: [
    {
      title: 'Asked twice, it answers the same',
      before: [endless, { capability: 'image.cancel', input: { job_id: '$0.job_id' } }],
      input: { job_id: '$0.job_id' },
      expect: { state: 'cancelled', cost_usd: 0 },
    },
  ],
});
