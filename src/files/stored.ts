// Sources and results that are objects in buckets. They are read and written as storage calls, with the caller's rights and at storage prices.
// A call that is free reads for nothing.

import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { scopesAllow } from '../core/callers/scopes.ts';
import { keepBytes, ofBytes } from '../objects/blobs.ts';
import { requireWritable } from '../objects/door.ts';
import { bucketMissing, keyBytes } from '../objects/object.ts';
import { putObject } from '../objects/put.ts';
import { chargeRead, findObject } from '../objects/read.ts';
import { bucketId, readBuckets } from '../objects/store.ts';
import { invalidField, problem } from '../problems/problem.ts';
import type { SourceBounds, SourceBytes, SourceContext } from './call.ts';

export interface StoredName {
  readonly bucket: string;
  readonly key: string;
}

const READ = 'storage.object.get';
const WRITE = 'storage.object.put';

/** Throws BUCKET_NOT_FOUND and OBJECT_NOT_FOUND, VALIDATION_FAILED for one that is too long, and what a call of storage.object.get throws. */
export function readStored(
  ctx: SourceContext,
  name: StoredName,
  { bytesMax, param, isFree = false }: SourceBounds,
): Promise<SourceBytes> {
  const key = keyBytes(name.key, `${param}.key`);
  return ctx.perform(READ, { ...name }, async (call) => {
    const { row, open } = await findObject(call, { bucket: name.bucket, key }, { at: `${param}.` });
    if (row.bytes > BigInt(bytesMax)) {
      throw invalidField(
        `${param}.key`,
        'too_large',
        `The object has ${row.bytes} bytes; at most ${bytesMax} are taken.`,
      );
    }
    ctx.holdAnswer(Number(row.bytes));
    const bytes = await buffer(Readable.from(open(0, Number(row.bytes) - 1)));
    const { costNanos } = isFree ? { costNanos: 0n } : await chargeRead(call, async () => 'null');
    return { result: { bytes, contentType: row.content_type }, costNanos };
  });
}

/** Keeps the bytes as an object of the account. Throws what a call of storage.object.put throws. */
export function storeResult(
  ctx: SourceContext,
  { bucket, key: named }: StoredName,
  { bytes, contentType }: { readonly bytes: Uint8Array; readonly contentType: string },
): Promise<void> {
  const key = keyBytes(named, 'store.key');
  return ctx.perform(WRITE, { bucket, key: named, content_type: contentType }, async (call) => {
    await requireWritable(call, bucket, bytes.length);
    const { costNanos } = await keepBytes(
      call,
      { source: ofBytes(bytes), bytes: bytes.length },
      ({ blobId, md5: etag }) =>
        putObject(call, {
          bucket,
          key,
          content: { kind: 'blob', blobId, bytes: bytes.length, etag },
          conditions: {},
          about: { contentType, headers: null, metadata: null, checksums: null, tags: null },
        }),
    );
    return { result: undefined, costNanos };
  });
}

/** Before work is done whose result is to be kept there. Throws BUCKET_NOT_FOUND, INSUFFICIENT_SCOPE. */
export async function requireBucket(ctx: SourceContext, { bucket, key }: StoredName): Promise<void> {
  const { accountId, core, principal } = ctx;
  keyBytes(key, 'store.key');
  if (!scopesAllow(principal.scopes, WRITE, 'write')) {
    throw problem('INSUFFICIENT_SCOPE', {
      message: `A result is stored as by ${WRITE}: this key may not call it.`,
      detail: WRITE,
    });
  }
  const buckets = await readBuckets(core.db, [{ accountId, bucket }]);
  if (!buckets.has(bucketId({ accountId, bucket }))) throw bucketMissing('store.bucket');
}
