// Buckets: how they are stored, shown and deleted.
import Type, { type Static } from 'typebox';
import type { Notify } from '../../../core/objects/changes.ts';
import { bucketMissing } from '../../../core/objects/object.ts';
import type { Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { type Resource, resourceTable } from '../../../kit/resource.ts';
import { iso } from '../../../lib/time.ts';
import { problem } from '../problems.ts';
import { bucketField, expireField, notifyField } from '../schemas.ts';

export interface ExpiryRule {
  readonly prefix: string;
  readonly days: number;
}

export interface BucketRow {
  readonly bucket: string;
  readonly object_count: bigint;
  readonly bytes: bigint;
  readonly expire: readonly ExpiryRule[] | null;
  readonly notify: Notify | null;
  readonly created_at: number;
}

export const bucketSchema = Type.Object({
  bucket: Type.String({ description: 'Its name.' }),
  object_count: Type.Integer({ description: 'Objects in it.' }),
  bytes: Type.Integer({ description: 'Their bytes.' }),
  expire: expireField,
  notify: notifyField,
  created_at: Type.String({ format: 'date-time', description: 'When it was created.' }),
});

export const bucketTable = resourceTable<BucketRow>({
  table: 'storage.bucket',
  key: 'bucket',
  columns: 'bucket, object_count, bytes, expire, notify, created_at',
});

export const bucketLimits = {
  buckets: { description: 'Buckets.', used: bucketTable.count, standard: 100, pro: 1_000, enterprise: 10_000 },
};

export function showBucket(row: BucketRow): Static<typeof bucketSchema> {
  return {
    bucket: row.bucket,
    object_count: Number(row.object_count),
    bytes: Number(row.bytes),
    expire: [...(row.expire ?? [])],
    notify: row.notify === null ? null : { ...row.notify, events: [...row.notify.events] },
    created_at: iso(row.created_at),
  };
}

const insertBucket = statement(
  'storage_insert_bucket',
  'INSERT INTO storage.bucket (account_id, bucket, created_at) VALUES ($1, $2, $3)',
);
const updateSettings = statement(
  'storage_update_settings',
  'UPDATE storage.bucket SET expire = $3, notify = $4 WHERE account_id = $1 AND bucket = $2',
);
const selectOpenUpload = statement(
  'storage_any_open_upload',
  `SELECT 1 AS found FROM storage.upload p WHERE p.account_id = $1 AND p.bucket = $2 AND p.state = 'open' LIMIT 1`,
);

export async function addBucket(tx: Transaction, accountId: string, bucket: string, nowMs: number): Promise<void> {
  await tx.query(insertBucket, [accountId, bucket, timestamp(nowMs)]);
}

export interface BucketSettings {
  readonly expire: readonly ExpiryRule[];
  readonly notify: Notify | null;
}

export async function saveSettings(
  tx: Transaction,
  accountId: string,
  bucket: string,
  { expire, notify }: BucketSettings,
): Promise<void> {
  const rules = expire.length === 0 ? null : JSON.stringify(expire);
  const told = notify === null ? null : JSON.stringify(notify);
  await tx.query(updateSettings, [accountId, bucket, rules, told]);
}

export const buckets: Resource<BucketRow, unknown, typeof bucketSchema> = {
  ...bucketTable,
  ...{ noun: 'bucket', keyName: 'bucket', keyField: bucketField, output: bucketSchema },
  notFound: bucketMissing,
  show: showBucket,
  async remove(tx, ctx, bucket) {
    const row = await bucketTable.find(tx, ctx, bucket);
    if (row === null) return false;
    const uploads = await tx.query(selectOpenUpload, [ctx.accountId, bucket]);
    if (row.object_count > 0n || uploads.rows.length > 0) {
      const what = row.object_count > 0n ? `${row.object_count} objects` : 'unfinished uploads';
      throw problem('BUCKET_NOT_EMPTY', { param: 'bucket', message: `The bucket has ${what}.` });
    }
    return bucketTable.remove(tx, ctx, bucket);
  },
};
