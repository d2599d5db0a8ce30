import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import Type from 'typebox';
import { clockNow } from '../../../core/database-clock.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { instantOrNull, textOrNull } from '../../../kit/fields.ts';
import { iso } from '../../../lib/time.ts';
import { keyBytes, objectSchema, showObject } from '../../../objects/object.ts';
import { chargeRead, findObject } from '../../../objects/read.ts';
import { bucketField, INLINE_BYTES_MAX, keyField, LINK_SECONDS } from '../schemas.ts';
import type { StorageState } from '../state.ts';

/** Of an answer that is being made: bytes, their text, and the text of the answer. */
const COPIES = 4;

export const getObject = defineCapability<StorageState>()({
  method: 'GET',
  path: '/v1/storage/object/get',
  summary: 'Reads an object.',
  description:
    'Up to 1 MiB the content stands in the answer: as text in content where it is UTF-8, else in content_base64. A longer one is answered as a link ' +
    'that needs no key, for an hour, to these very bytes; it takes ranges.',
  keywords: ['download file', 's3 get object', 'read blob', 'read file'],
  input: Type.Object({ bucket: bucketField, key: keyField }),
  output: Type.Object({
    ...objectSchema.properties,
    content: textOrNull('The text; null of other bytes, and of long ones.'),
    content_base64: textOrNull('The bytes where they are no text.'),
    url: textOrNull('Where a long one is fetched with GET.'),
    url_expires_at: instantOrNull('Until when.'),
  }),
  price: 'storage.read',
  errors: ['BUCKET_NOT_FOUND', 'OBJECT_NOT_FOUND'],
  events: ['wallet.low_balance'],
  limits: { content: '1 MiB in the answer.' },
  examples: [
    {
      title: 'A report',
      before: [
        { capability: 'storage.bucket.create', input: { bucket: 'reports' } },
        {
          capability: 'storage.object.put',
          input: { bucket: 'reports', key: '2026/11/summary.md', content: '# November\n' },
        },
      ],
      input: { bucket: 'reports', key: '2026/11/summary.md' },
      expect: { content: '# November\n', url: null },
    },
  ],
  async run({ ctx, input, state }) {
    const { bucket } = input;
    const found = await findObject(ctx, { bucket, key: keyBytes(input.key) });
    const { row } = found;
    const none = { content: null, content_base64: null, url: null, url_expires_at: null };
    return chargeRead(ctx, async () => {
      if (row.bytes > BigInt(INLINE_BYTES_MAX)) {
        const endMs = (await clockNow(ctx.core.db)) + LINK_SECONDS * 1_000;
        const key = row.key.toString('base64url');
        const url = state.links.content({ accountId: ctx.accountId, bucket, key, etag: row.etag, endMs });
        return JSON.stringify({ ...showObject(row), ...none, url, url_expires_at: iso(endMs) });
      }
      ctx.holdAnswer(Number(row.bytes) * COPIES);
      const bytes = await buffer(Readable.from(found.open(0, Number(row.bytes) - 1)));
      return JSON.stringify({ ...showObject(row), ...none, ...contentOf(bytes) });
    });
  },
});

function contentOf(bytes: Buffer): { content: string } | { content_base64: string } {
  try {
    return { content: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { content_base64: bytes.toString('base64') };
  }
}
