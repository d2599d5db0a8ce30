import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import type { CallContext } from '../../../kit/services.ts';
import { keyBytes } from '../../../objects/object.ts';
import { removeObjects } from '../../../objects/remove.ts';
import { bucketField, keyField } from '../schemas.ts';
import type { StorageState } from '../state.ts';

const KEYS_MAX = 1_000;
const KEYS_A_TOKEN = 20;

/** Takes of the rate what so many keys are worth. */
export function weighKeys(ctx: Pick<CallContext, 'weigh'>, keys: number): void {
  ctx.weigh(Math.floor((keys - 1) / KEYS_A_TOKEN));
}

export const deleteObjects = defineCapability<StorageState>()({
  method: 'POST',
  path: '/v1/storage/object/delete',
  summary: 'Deletes objects.',
  description:
    'Up to 1,000 keys, all at once. Keys without an object are passed over, so a call may be repeated. Free, also without credit.',
  keywords: ['delete file', 'remove object', 's3 delete objects'],
  destructive: true,
  rate: 'deletes',
  input: Type.Object({
    bucket: bucketField,
    keys: Type.Array(keyField, { minItems: 1, maxItems: KEYS_MAX, description: `1 to ${KEYS_MAX} keys.` }),
  }),
  output: Type.Object({
    bucket: Type.String({ description: 'As sent.' }),
    deleted: Type.Integer({ description: 'Objects that were there.' }),
  }),
  laterPrices: ['queue.publish'],
  // As many keys as there may be, unless all of them are as long as they may be.
  bodyBytesMax: 512 * 1024,
  errors: ['BUCKET_NOT_FOUND'],
  limits: {
    keys: '1,000 a call, in 512 KiB.',
    rate: '100 / 1,000 / 5,000 calls a second, 20 seconds of them at once; 20 more keys count as another call.',
  },
  examples: [
    {
      title: 'Two files',
      before: [
        { capability: 'storage.bucket.create', input: { bucket: 'site' } },
        { capability: 'storage.object.put', input: { bucket: 'site', key: 'a', content: '1' } },
      ],
      input: { bucket: 'site', keys: ['a', 'b'] },
      expect: { deleted: 1 },
    },
  ],
  run: ({ ctx, input: { bucket, keys } }) => {
    weighKeys(ctx, keys.length);
    const named = keys.map((key, i) => keyBytes(key, `keys[${i}]`));
    return runWrite(ctx, async (tx, { nowMs }) => ({
      bucket,
      deleted: await removeObjects(
        tx,
        { accountId: ctx.accountId, bucket, keys: named, keyId: ctx.principal.id },
        nowMs,
      ),
    }));
  },
});
