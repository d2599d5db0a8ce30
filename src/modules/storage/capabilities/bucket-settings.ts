import Type, { type Static } from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { requireRow } from '../../../kit/resource.ts';
import { invalidField } from '../../../problems/problem.ts';
import { type BucketRow, bucketSchema, buckets, bucketTable, saveNotify, showBucket } from '../buckets/buckets.ts';
import { CORS_BYTES_MAX, type CorsMethod, type CorsRule, withIds } from '../buckets/cors.ts';
import { saveCors } from '../buckets/cors-store.ts';
import { setRules } from '../buckets/expiry.ts';
import { lifecycleAfter } from '../buckets/lifecycle.ts';
import { abortUploadsField, bucketField, expireField, notifyField, sentCorsField } from '../schemas.ts';
import type { StorageState } from '../state.ts';

/** Pages of the console import capabilities alone. */
export { CORS_METHODS, CORS_RULES_MAX } from '../buckets/cors.ts';

export const setBucketSettings = defineCapability<StorageState>()({
  method: 'PUT',
  path: '/v1/storage/bucket/settings',
  summary: 'Sets what happens to the objects of a bucket: expiry by age, notices to a queue, and use by web pages.',
  description:
    'Sets all at once; what is not sent is switched off. Objects are deleted, and uploads aborted, within an hour of their age (above 100,000 objects ' +
    'within a day). Lifecycle rules of S3 clients are these rules; they keep their ids and disabled rules while the same rules apply. Messages are ' +
    'written with the change, so none is lost; they arrive within seconds. `cors` holds for the S3 address, presigned ones and upload links too.',
  keywords: ['bucket lifecycle', 'expire old files', 's3 event notification', 'ttl of objects', 'cors'],
  input: Type.Object({
    bucket: bucketField,
    expire: Type.Optional(expireField),
    abort_uploads: Type.Optional(abortUploadsField),
    notify: Type.Optional(notifyField),
    cors: Type.Optional(sentCorsField),
  }),
  output: bucketSchema,
  laterPrices: ['queue.publish'],
  errors: ['BUCKET_NOT_FOUND'],
  limits: {
    rules: 'Up to 10 for objects, 10 for uploads, and 10 for web pages.',
    cors: '20 values in each list, 16 KiB of JSON in all.',
  },
  examples: [
    {
      title: 'Scratch files go after a week',
      before: [{ capability: 'storage.bucket.create', input: { bucket: 'work' } }],
      input: { bucket: 'work', expire: [{ prefix: 'tmp/', days: 7 }] },
      expect: { expire: [{ prefix: 'tmp/', days: 7 }], notify: null },
    },
  ],
  run: ({ ctx, input: { bucket, expire = [], abort_uploads = [], notify = null, cors = [] } }) => {
    const sent = cors.map(completeRule);
    requireShort(sent);
    return runWrite(ctx, async (tx, { nowMs }) => {
      const before = await requireRow(buckets, tx, ctx, bucket);
      const applied = { expire, abort_uploads };
      const lifecycle = lifecycleAfter(before.lifecycle, applied);
      await setRules(tx, ctx.accountId, bucket, { ...applied, lifecycle }, nowMs);
      await saveNotify(tx, ctx.accountId, bucket, notify);
      await saveCors(tx, ctx.accountId, bucket, withIds(sent, before.cors));
      return showBucket((await bucketTable.find(tx, ctx, bucket)) as BucketRow);
    });
  },
});

type SentRule = Static<typeof sentCorsField>[number];

function completeRule({ origins, methods, headers = [], expose = [], max_age_seconds = null }: SentRule): CorsRule {
  return { origins, methods: methods as readonly CorsMethod[], headers, expose, max_age_seconds };
}

/** Throws VALIDATION_FAILED. */
function requireShort(rules: readonly CorsRule[]): void {
  if (Buffer.byteLength(JSON.stringify(rules)) <= CORS_BYTES_MAX) return;
  throw invalidField('cors', 'too_long', `The rules of cors may have ${CORS_BYTES_MAX} bytes of JSON together.`);
}
