import Type from 'typebox';
import { decodeCursor, encodeCursor, LIMIT_DEFAULT } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, limitField, pageFields } from '../../../kit/fields.ts';
import { listObjects } from '../../../objects/list.ts';
import { bucketMissing, objectSchema, showObject } from '../../../objects/object.ts';
import { bucketId, readBuckets } from '../../../objects/store.ts';
import { bucketField } from '../schemas.ts';
import type { StorageState } from '../state.ts';

export const listObjectsCall = defineCapability<StorageState>()({
  method: 'GET',
  path: '/v1/storage/object/list',
  summary: 'Lists the objects of a bucket by key.',
  description:
    'In the order of the bytes of their keys. With prefix only keys that begin with it; with delimiter, mostly `/`, keys that share what stands ' +
    'before it are one entry of prefixes, as folders are. Free.',
  keywords: ['list files', 's3 list objects', 'folder contents'],
  input: Type.Object({
    bucket: bucketField,
    prefix: Type.Optional(Type.String({ maxLength: 1_024, description: 'What keys begin with.' })),
    delimiter: Type.Optional(Type.String({ maxLength: 16, description: 'Such as `/`.' })),
    cursor: cursorField,
    limit: limitField,
  }),
  output: Type.Object({
    items: Type.Array(objectSchema, { description: 'Objects of this page.' }),
    prefixes: Type.Array(Type.String(), {
      description: 'What further keys of this page begin with, delimiter included.',
    }),
    ...pageFields,
  }),
  errors: ['BUCKET_NOT_FOUND', 'INVALID_CURSOR'],
  examples: [
    {
      title: 'A folder',
      before: [
        { capability: 'storage.bucket.create', input: { bucket: 'site' } },
        { capability: 'storage.object.put', input: { bucket: 'site', key: 'img/logo.svg', content: '<svg/>' } },
      ],
      input: { bucket: 'site', delimiter: '/' },
      expect: { prefixes: ['img/'], has_more: false },
    },
  ],
  async run({ ctx, input }) {
    const { bucket, prefix = '', delimiter = '', cursor, limit = LIMIT_DEFAULT } = input;
    const { core, accountId } = ctx;
    const binding = [accountId, ctx.capability, bucket, prefix, delimiter];
    const after =
      cursor === undefined ? null : Buffer.from(String(decodeCursor(core.secrets, binding, cursor)[0]), 'base64url');
    const listing = { accountId, bucket, prefix: Buffer.from(prefix), delimiter: Buffer.from(delimiter), after, limit };
    const [buckets, { entries, next }] = await Promise.all([
      readBuckets(core.db, [{ accountId, bucket }]),
      listObjects(core.db, listing),
    ]);
    if (!buckets.has(bucketId({ accountId, bucket }))) throw bucketMissing();
    return {
      data: {
        items: entries.flatMap((entry) => (entry.kind === 'object' ? [showObject(entry.row)] : [])),
        prefixes: entries.flatMap((entry) => (entry.kind === 'prefix' ? [entry.prefix.toString('utf8')] : [])),
        next_cursor: next === null ? null : encodeCursor(core.secrets, binding, [next.toString('base64url')]),
        has_more: next !== null,
      },
    };
  },
});
