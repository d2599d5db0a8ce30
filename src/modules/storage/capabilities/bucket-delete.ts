import { deleteOf } from '../../../kit/resource.ts';
import { buckets } from '../buckets/buckets.ts';

export const deleteBucket = {
  ...deleteOf(buckets, {
    path: '/v1/storage/bucket/delete/{bucket}',
    description:
      'Only a bucket without objects can be deleted. Its unfinished uploads are aborted, up to 10,000 of them.',
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
