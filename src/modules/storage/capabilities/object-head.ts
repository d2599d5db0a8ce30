import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { keyBytes, objectSchema, showObject } from '../../../objects/object.ts';
import { findObject } from '../../../objects/read.ts';
import { bucketField, keyField } from '../schemas.ts';
import type { StorageState } from '../state.ts';

export const headObject = defineCapability<StorageState>()({
  method: 'GET',
  path: '/v1/storage/object/head',
  summary: 'Shows an object without its bytes.',
  description: 'Length, etag, type, metadata, checksums and times. Free.',
  keywords: ['s3 head object', 'file size', 'does a file exist'],
  input: Type.Object({ bucket: bucketField, key: keyField }),
  output: objectSchema,
  errors: ['BUCKET_NOT_FOUND', 'OBJECT_NOT_FOUND'],
  examples: [
    {
      title: 'How long it is',
      before: [
        { capability: 'storage.bucket.create', input: { bucket: 'reports' } },
        { capability: 'storage.object.put', input: { bucket: 'reports', key: 'a.txt', content: 'abc' } },
      ],
      input: { bucket: 'reports', key: 'a.txt' },
      expect: { bytes: 3, etag: '900150983cd24fb0d6963f7d28e17f72' },
    },
  ],
  async run({ ctx, input }) {
    const { row } = await findObject(ctx, { bucket: input.bucket, key: keyBytes(input.key) }, { mustBePaid: false });
    return { data: showObject(row) };
  },
});
