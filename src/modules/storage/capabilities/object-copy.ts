import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { keyBytes, objectSchema, requireMetadata } from '../../../objects/object.ts';
import { putObject } from '../../../objects/put.ts';
import { bucketField, keyField, metadataField } from '../schemas.ts';
import type { StorageState } from '../state.ts';

export const copyObject = defineCapability<StorageState>()({
  method: 'POST',
  path: '/v1/storage/object/copy',
  summary: 'Copies an object to another key or bucket.',
  description:
    'No bytes are moved: however long it is, the copy is there at once, and costs one write. It is held, and charged, as an object of its own. ' +
    'metadata, when sent, takes the place of that of the source.',
  keywords: ['copy file', 'rename file', 's3 copy object', 'move object'],
  input: Type.Object({
    bucket: bucketField,
    key: keyField,
    to_bucket: Type.Optional(bucketField),
    to_key: keyField,
    metadata: Type.Optional(metadataField),
  }),
  output: objectSchema,
  price: 'storage.write',
  laterPrices: ['storage.held', 'queue.publish'],
  opaque: ['metadata'],
  errors: ['BUCKET_NOT_FOUND', 'OBJECT_NOT_FOUND', 'QUOTA_EXCEEDED'],
  events: ['wallet.low_balance'],
  examples: [
    {
      title: 'Keep the version of today',
      before: [
        { capability: 'storage.bucket.create', input: { bucket: 'site' } },
        { capability: 'storage.object.put', input: { bucket: 'site', key: 'index.html', content: '<h1>Hello</h1>' } },
      ],
      input: { bucket: 'site', key: 'index.html', to_key: 'old/index.html' },
      expect: { key: 'old/index.html', bytes: 14 },
    },
  ],
  run({ ctx, input }) {
    const { bucket, to_bucket = bucket, metadata = null } = input;
    const [from, to] = [keyBytes(input.key), keyBytes(input.to_key, 'to_key')];
    requireMetadata(metadata);
    return putObject(ctx, {
      bucket: to_bucket,
      key: to,
      conditions: {},
      content: {
        kind: 'copy',
        bucket,
        key: from,
        conditions: {},
        checked: null,
        replaces: metadata === null ? 'nothing' : 'metadata',
      },
      about: { contentType: '', headers: null, metadata, checksums: null, tags: null },
    });
  },
});
