import Type from 'typebox';
import { findReplay } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { keepBytes, ofBytes } from '../../../objects/blobs.ts';
import { requireWritable } from '../../../objects/door.ts';
import { keyBytes, objectSchema, requireMetadata } from '../../../objects/object.ts';
import { putObject } from '../../../objects/put.ts';
import { invalidField } from '../../../problems/problem.ts';
import { bucketField, CONTENT_BYTES_MAX, contentTypeField, keyField, metadataField } from '../schemas.ts';
import type { StorageState } from '../state.ts';

/** Base64, or text of which each character may be escaped. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;

interface SentObject {
  readonly bucket: string;
  readonly key: string;
  readonly content?: string;
  readonly content_base64?: string;
  readonly content_type?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly if_none_match?: string;
}

interface ReadObject extends Omit<SentObject, 'content' | 'content_base64'> {
  readonly bytes: Uint8Array;
  readonly isText: boolean;
}

export const putObjectCall = defineCapability<StorageState>()({
  method: 'POST',
  path: '/v1/storage/object/put',
  summary: 'Stores an object under a key.',
  description:
    'What stands under the key is replaced, all at once: a reader gets the old bytes or the new ones. It is durable before it answers, and every ' +
    'process reads it then. Up to 4 MiB in this call; longer ones go to an address of storage.presign, or by any S3 client.',
  keywords: ['upload file', 's3 put object', 'save blob', 'write file'],
  input: Type.Object({
    bucket: bucketField,
    key: keyField,
    content: Type.Optional(Type.String({ description: 'Text, kept as UTF-8. This or content_base64.' })),
    content_base64: Type.Optional(Type.String({ description: 'Bytes as base64.' })),
    content_type: Type.Optional(contentTypeField),
    metadata: Type.Optional(metadataField),
    if_none_match: Type.Optional(
      Type.Enum(['*'], { description: '`*`: only where nothing stands under the key, else PRECONDITION_FAILED.' }),
    ),
  }),
  output: objectSchema,
  price: 'storage.write',
  laterPrices: ['storage.held', 'queue.publish'],
  bodyBytesMax: BODY_BYTES_MAX,
  opaque: ['content', 'content_base64', 'metadata'],
  bulk: { source: import.meta.url, reduce: (input: SentObject) => decodeContent(input) },
  errors: ['BUCKET_NOT_FOUND', 'PRECONDITION_FAILED', 'QUOTA_EXCEEDED'],
  events: ['wallet.low_balance'],
  limits: {
    content: '4 MiB a call; 5 GiB by S3, 5 TiB in parts.',
    key: '1,024 bytes.',
    metadata: '2 KiB.',
    bytes: '10 GB an account (standard tier), 100 GB (pro), 1,000 GB (enterprise).',
  },
  examples: [
    {
      title: 'A report',
      before: [{ capability: 'storage.bucket.create', input: { bucket: 'reports' } }],
      input: { bucket: 'reports', key: '2026/11/summary.md', content: '# November\n', content_type: 'text/markdown' },
      expect: { bytes: 11, content_type: 'text/markdown' },
    },
  ],
  async run({ ctx, input }) {
    const { bucket, key: sentKey, bytes, isText, metadata = null, ...sent } = input as unknown as ReadObject;
    const key = keyBytes(sentKey);
    requireMetadata(metadata);
    const replay = await findReplay(ctx);
    if (replay !== null) return replay;
    await requireWritable(ctx, bucket, bytes.length);
    const contentType = sent.content_type ?? (isText ? 'text/plain; charset=utf-8' : 'application/octet-stream');
    return keepBytes(ctx, { source: ofBytes(bytes), bytes: bytes.length }, (blob) =>
      putObject(ctx, {
        bucket,
        key,
        content: { kind: 'blob', blobId: blob.blobId, bytes: bytes.length, etag: blob.md5 },
        about: { contentType, headers: null, metadata, checksums: null, tags: null },
        conditions: sent.if_none_match === undefined ? {} : { ifNoneMatch: ['*'] },
      }),
    );
  },
});

/** In a thread where the content is long. */
function decodeContent({ content, content_base64: base64, ...rest }: SentObject) {
  if ((content === undefined) === (base64 === undefined)) {
    throw invalidField('content', 'required', 'Send content or content_base64, and not both.');
  }
  const buffer = content === undefined ? decodeBase64(base64 as string) : Buffer.from(content, 'utf8');
  if (buffer.length > CONTENT_BYTES_MAX) {
    throw invalidField(
      'content',
      'too_long',
      `The content has ${buffer.length} bytes; this call takes ${CONTENT_BYTES_MAX}.`,
    );
  }
  const bytes = new Uint8Array(buffer);
  return { value: { ...rest, bytes, isText: content !== undefined }, transfer: [bytes.buffer] };
}

function decodeBase64(base64: string): Buffer {
  const bytes = Buffer.from(base64, 'base64');
  // Decoding skips what is no base64.
  if (
    bytes.toString('base64').replaceAll('=', '') !==
    base64.replaceAll('=', '').replaceAll('-', '+').replaceAll('_', '/')
  ) {
    throw invalidField('content_base64', 'base64', 'content_base64 is not base64.');
  }
  return bytes;
}
