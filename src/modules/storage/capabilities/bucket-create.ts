import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { alsoNamed } from '../../../kit/second-names.ts';
import { addBucket, type BucketRow, bucketSchema, bucketTable, showBucket } from '../buckets/buckets.ts';
import { newBucketField } from '../schemas.ts';
import type { StorageState } from '../state.ts';

export const createBucket = defineCapability<StorageState>()({
  method: 'POST',
  path: '/v1/storage/bucket/create',
  summary: 'Creates a bucket for objects.',
  description:
    'A bucket belongs to the account: other accounts may have buckets of the same name, and see nothing of this one. No bucket is public; ' +
    'storage.share.create makes links for people without a key. Free.',
  keywords: ['create bucket', 's3 make bucket', 'new file store'],
  input: Type.Object({ bucket: alsoNamed(newBucketField, 'name') }),
  output: bucketSchema,
  errors: ['ALREADY_EXISTS', 'QUOTA_EXCEEDED'],
  limits: { buckets: '100 an account (standard tier), 1,000 (pro), 10,000 (enterprise).' },
  examples: [{ title: 'For backups', input: { bucket: 'backup' }, expect: { bucket: 'backup', object_count: 0 } }],
  run: ({ ctx, input: { bucket } }) =>
    runWrite(ctx, async (tx, { nowMs }) => {
      await addBucket(tx, ctx, { bucket, region: null }, nowMs);
      return showBucket((await bucketTable.find(tx, ctx, bucket)) as BucketRow);
    }),
});
