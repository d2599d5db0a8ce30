import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { requireRow } from '../../../kit/resource.ts';
import { type BucketRow, bucketSchema, buckets, bucketTable, saveSettings, showBucket } from '../buckets/buckets.ts';
import { planExpiry } from '../buckets/expiry.ts';
import { bucketField, expireField, notifyField } from '../schemas.ts';
import type { StorageState } from '../state.ts';

export const setBucketSettings = defineCapability<StorageState>()({
  method: 'PUT',
  path: '/v1/storage/bucket/settings',
  summary: 'Sets what happens to the objects of a bucket: expiry by age, and notices to a queue.',
  description:
    'Sets both at once; what is not sent is switched off. Objects are deleted within an hour of their age (in buckets of more than 100,000 objects ' +
    'within a day). Messages are written with the change that they tell of, so none is lost; they arrive within seconds.',
  keywords: ['bucket lifecycle', 'expire old files', 's3 event notification', 'ttl of objects'],
  input: Type.Object({
    bucket: bucketField,
    expire: Type.Optional(expireField),
    notify: Type.Optional(notifyField),
  }),
  output: bucketSchema,
  laterPrices: ['queue.publish'],
  errors: ['BUCKET_NOT_FOUND'],
  limits: { rules: 'Up to 10.' },
  examples: [
    {
      title: 'Scratch files go after a week',
      before: [{ capability: 'storage.bucket.create', input: { bucket: 'work' } }],
      input: { bucket: 'work', expire: [{ prefix: 'tmp/', days: 7 }] },
      expect: { expire: [{ prefix: 'tmp/', days: 7 }], notify: null },
    },
  ],
  run: ({ ctx, input: { bucket, expire = [], notify = null } }) =>
    runWrite(ctx, async (tx, { nowMs }) => {
      await requireRow(buckets, tx, ctx, bucket);
      await saveSettings(tx, ctx.accountId, bucket, { expire, notify });
      await planExpiry(tx, ctx.accountId, bucket, expire.length === 0 ? null : nowMs);
      return showBucket((await bucketTable.find(tx, ctx, bucket)) as BucketRow);
    }),
});
