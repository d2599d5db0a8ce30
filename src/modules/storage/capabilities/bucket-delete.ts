import { deleteOf } from '../../../kit/resource.ts';
import { buckets } from '../buckets/buckets.ts';

export const deleteBucket = {
  ...deleteOf(buckets, {
    path: '/v1/storage/bucket/delete/{bucket}',
    description: 'Only an empty bucket can be deleted: without objects, and without unfinished uploads.',
    keywords: ['remove bucket', 's3 rb'],
    examples: [
      {
        title: 'Not needed any more',
        before: [{ capability: 'storage.bucket.create', input: { bucket: 'scratch' } }],
        input: { bucket: 'scratch' },
        expect: { deleted: true },
      },
    ],
  }),
  errors: ['BUCKET_NOT_EMPTY'],
};
