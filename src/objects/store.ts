// Batched reads of buckets, objects and blobs by name.
import { byteaArray, textArray } from '../db/arrays.ts';
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import type { Notify } from './changes.ts';
import { OBJECT_COLUMNS, type ObjectRow } from './object.ts';

export interface BucketRef {
  readonly accountId: string;
  readonly bucket: string;
}

export interface ObjectRef extends BucketRef {
  readonly key: Buffer;
}

export const bucketId = ({ accountId, bucket }: BucketRef): string => `${accountId}\n${bucket}`;
export const objectId = ({ accountId, bucket, key }: ObjectRef): string =>
  `${accountId}\n${bucket}\n${key.toString('latin1')}`;

const selectBuckets = statement(
  'storage_select_buckets',
  `SELECT b.account_id, b.bucket, b.notify
     FROM unnest($2::text[], $3::text[]) u(account_id, bucket), storage.bucket b
    WHERE b.account_id = ANY($1::text[]) AND b.account_id = u.account_id AND b.bucket = u.bucket`,
);
const selectObjects = statement(
  'storage_select_objects',
  `SELECT ${OBJECT_COLUMNS}
     FROM unnest($2::text[], $3::text[], $4::bytea[]) u(account_id, bucket, key), storage.object o
    WHERE o.account_id = ANY($1::text[]) AND o.account_id = u.account_id AND o.bucket = u.bucket AND o.key = u.key`,
);
const selectWriting = statement(
  'storage_select_writing',
  `SELECT b.account_id, b.blob_id
     FROM unnest($2::text[], $3::text[]) u(account_id, blob_id), storage.blob b
    WHERE b.account_id = ANY($1::text[]) AND b.account_id = u.account_id AND b.blob_id = u.blob_id AND b.state = 'writing'`,
);

export const accountsOf = (refs: readonly { readonly accountId: string }[]): Buffer =>
  textArray([...new Set(refs.map(({ accountId }) => accountId))].sort());

/** What buckets that are there notify, by `bucketId`. */
export async function readBuckets(tx: Queryable, refs: readonly BucketRef[]): Promise<Map<string, Notify | null>> {
  const named = [...new Map(refs.map((ref) => [bucketId(ref), ref])).values()];
  const { rows } = await tx.query<{ account_id: string; bucket: string; notify: Notify | null }>(selectBuckets, [
    accountsOf(named),
    textArray(named.map(({ accountId }) => accountId)),
    textArray(named.map(({ bucket }) => bucket)),
  ]);
  return new Map(rows.map((row) => [bucketId({ accountId: row.account_id, bucket: row.bucket }), row.notify]));
}

/** Those that are there, by `objectId`. */
export async function readObjects(tx: Queryable, refs: readonly ObjectRef[]): Promise<Map<string, ObjectRow>> {
  const named = [...new Map(refs.map((ref) => [objectId(ref), ref])).values()];
  const { rows } = await tx.query<ObjectRow>(selectObjects, [
    accountsOf(named),
    textArray(named.map(({ accountId }) => accountId)),
    textArray(named.map(({ bucket }) => bucket)),
    byteaArray(named.map(({ key }) => key)),
  ]);
  return new Map(rows.map((row) => [objectId({ ...row, accountId: row.account_id }), row]));
}

/** Ids of the blobs that are still on their way in. */
export async function readWriting(
  tx: Queryable,
  refs: readonly { readonly accountId: string; readonly blobId: string }[],
): Promise<Set<string>> {
  const { rows } = await tx.query<{ blob_id: string }>(selectWriting, [
    accountsOf(refs),
    textArray(refs.map(({ accountId }) => accountId)),
    textArray(refs.map(({ blobId }) => blobId)),
  ]);
  return new Set(rows.map((row) => row.blob_id));
}
