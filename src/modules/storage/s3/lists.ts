// ListObjects in both versions, and ListObjectVersions.

import type { RawAnswer } from '../../../kit/raw-route.ts';
import { type Listed, listObjects as readList } from '../../../objects/list.ts';
import { bucketMissing } from '../../../objects/object.ts';
import { bucketId, readBuckets } from '../../../objects/store.ts';
import { bucketOf, ownerOf, type S3Call, xmlAnswer } from './call.ts';
import { listAsked, listFields, versionsAsked, versionsFields } from './listing.ts';

export async function listObjects(call: S3Call): Promise<RawAnswer> {
  const { request, capability, accountId, address, state } = call;
  const bucket = bucketOf(call);
  const isOfVersions = address.query.has('versions');
  const { prefix, delimiter, after, max } = isOfVersions
    ? versionsAsked(address.query)
    : listAsked(address.query, address.query.get('list-type') === '2');
  let listed: Listed = { entries: [], next: null };
  await request.perform(capability, async () => {
    const { db } = state.core;
    const bounds = { prefix: Buffer.from(prefix), delimiter: Buffer.from(delimiter), limit: max };
    const [buckets, page] = await Promise.all([
      readBuckets(db, [{ accountId, bucket }]),
      readList(db, { accountId, bucket, ...bounds, after: after === '' ? null : Buffer.from(after) }),
    ]);
    if (!buckets.has(bucketId({ accountId, bucket }))) throw bucketMissing();
    listed = page;
    return { data: null };
  });
  const { entries, next } = listed;
  const page = {
    objects: entries.flatMap((entry) => {
      if (entry.kind === 'prefix') return [];
      const { key, bytes, etag, updated_at: updatedMs, checksums } = entry.row;
      return [{ key: key.toString(), bytes: Number(bytes), etag, updatedMs, checksums: { ...checksums } }];
    }),
    prefixes: entries.flatMap((entry) => (entry.kind === 'prefix' ? [entry.prefix.toString()] : [])),
    next: next === null ? null : next.toString(),
  };
  if (isOfVersions) {
    return xmlAnswer(call, 'ListVersionsResult', versionsFields(bucket, address.query, page, ownerOf(call)));
  }
  return xmlAnswer(call, 'ListBucketResult', listFields(bucket, address.query, page, ownerOf(call)));
}
