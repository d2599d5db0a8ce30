import { getOf } from '../../../../kit/resource.ts';
import { batches } from '../../batches/store.ts';
import { completed, created } from './examples.ts';

export const get = getOf(batches, {
  path: '/v1/ai/batch/get/{batch_id}',
  summary: 'Says how far a batch is.',
  description: 'Status, how many requests have succeeded and failed, and what they have cost by now.',
  keywords: ['batch progress', 'is my batch done'],
  examples: [
    {
      title: 'When it is over',
      before: [created, completed],
      input: { batch_id: '$0.batch_id' },
      expect: { status: 'completed', counts: { total: 2, succeeded: 2, failed: 0 } },
    },
  ],
});
