import { getOf } from '../../../kit/resource.ts';
import { buckets } from '../buckets/buckets.ts';

export const getBucket = getOf(buckets, {
  path: '/v1/storage/bucket/get/{bucket}',
  description: 'What the bucket holds, and its settings.',
  keywords: ['bucket size', 'how much is stored'],
  examples: [
    {
      title: 'One bucket',
      before: [{ capability: 'storage.bucket.create', input: { bucket: 'backup' } }],
      input: { bucket: 'backup' },
      expect: { bytes: 0 },
    },
  ],
});
