import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { requireRow } from '../../../kit/resource.ts';
import { type BucketRow, bucketSchema, buckets, bucketTable, saveNotify, showBucket } from '../buckets/buckets.ts';
import { setRules } from '../buckets/expiry.ts';
import { lifecycleAfter } from '../buckets/lifecycle.ts';
import { abortUploadsField, bucketField, expireField, notifyField } from '../schemas.ts';
import type { StorageState } from '../state.ts';

export const setBucketSettings = defineCapability<StorageState>()({
  method: 'PUT',
  path: '/v1/storage/bucket/settings',
  summary: 'Sets what happens to the objects of a bucket: expiry by age, and notices to a queue.',
  description:
    'Sets all at once; what is not sent is switched off. Objects are deleted, and uploads aborted, within an hour of their age (above 100,000 objects ' +
    'within a day). Lifecycle rules of S3 clients are these rules; they keep their ids and disabled rules while the same rules apply. Messages are ' +
    'written with the change, so none is lost; they arrive within seconds.',
  keywords: ['bucket lifecycle', 'expire old files', 's3 event notification', 'ttl of objects'],
  input: Type.Object({
    bucket: bucketField,
    expire: Type.Optional(expireField),
    abort_uploads: Type.Optional(abortUploadsField),
    notify: Type.Optional(notifyField),
  }),
  output: bucketSchema,
  laterPrices: ['queue.publish'],
  errors: ['BUCKET_NOT_FOUND'],
  limits: { rules: 'Up to 10 for objects, and 10 for uploads.' },
  examples: [
    {
      title: 'Scratch files go after a week',
      before: [{ capability: 'storage.bucket.create', input: { bucket: 'work' } }],
      input: { bucket: 'work', expire: [{ prefix: 'tmp/', days: 7 }] },
      expect: { expire: [{ prefix: 'tmp/', days: 7 }], notify: null },
    },
  ],
  run: ({ ctx, input: { bucket, expire = [], abort_uploads = [], notify = null } }) =>
    runWrite(ctx, async (tx, { nowMs }) => {
      const before = await requireRow(buckets, tx, ctx, bucket);
      const applied = { expire, abort_uploads };
      const lifecycle = lifecycleAfter(before.lifecycle, applied);
      await setRules(tx, ctx.accountId, bucket, { ...applied, lifecycle }, nowMs);
      await saveNotify(tx, ctx.accountId, bucket, notify);
      return showBucket((await bucketTable.find(tx, ctx, bucket)) as BucketRow);
    }),
});
