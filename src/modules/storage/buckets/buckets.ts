// Buckets: storage, records and deletion.
import Type, { type Static } from 'typebox';
import type { Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { type Resource, requireRoom, resourceTable } from '../../../kit/resource.ts';
import type { CallContext } from '../../../kit/services.ts';
import { iso } from '../../../lib/time.ts';
import type { Notify } from '../../../objects/changes.ts';
import { beginHeld } from '../../../objects/held.ts';
import { bucketMissing } from '../../../objects/object.ts';
import { readOpenIn } from '../../../objects/upload-store.ts';
import { abortIn } from '../../../objects/uploads.ts';
import type { Problem } from '../../../problems/problem.ts';
import { problem } from '../problems.ts';
import { abortUploadsField, bucketField, corsField, expireField, notifyField } from '../schemas.ts';
import type { KeptCorsRule } from './cors.ts';
import { forgetCors } from './cors-store.ts';
import type { AgeRule, AppliedRules, Lifecycle } from './lifecycle.ts';

export interface BucketRow {
  readonly bucket: string;
  /** As a client of S3 named it; null: the service's own. */
  readonly region: string | null;
  readonly object_count: bigint;
  readonly bytes: bigint;
  readonly expire: readonly AgeRule[] | null;
  readonly abort_uploads: readonly AgeRule[] | null;
  readonly lifecycle: Lifecycle | null;
  readonly notify: Notify | null;
  readonly cors: readonly KeptCorsRule[] | null;
  readonly created_at: number;
}

export const bucketSchema = Type.Object({
  bucket: Type.String({ description: 'Its name.' }),
  object_count: Type.Integer({ description: 'Objects in it.' }),
  bytes: Type.Integer({ description: 'Their bytes.' }),
  expire: expireField,
  abort_uploads: abortUploadsField,
  notify: notifyField,
  cors: corsField,
  created_at: Type.String({ format: 'date-time', description: 'When it was created.' }),
});

export const bucketTable = resourceTable<BucketRow>({
  table: 'storage.bucket',
  key: 'bucket',
  columns: 'bucket, region, object_count, bytes, expire, abort_uploads, lifecycle, notify, cors, created_at',
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
    abort_uploads: [...(row.abort_uploads ?? [])],
    notify: row.notify === null ? null : { ...row.notify, events: [...row.notify.events] },
    cors: (row.cors ?? []).map(({ id: _, ...rule }) => rule as Static<typeof corsField>[number]),
    created_at: iso(row.created_at),
  };
}

const insertBucket = statement(
  'storage_insert_bucket',
  'INSERT INTO storage.bucket (account_id, bucket, region, created_at) VALUES ($1, $2, $3, $4)',
);
const updateRules = statement(
  'storage_update_rules',
  'UPDATE storage.bucket SET expire = $3, abort_uploads = $4, lifecycle = $5 WHERE account_id = $1 AND bucket = $2',
);
const updateNotify = statement(
  'storage_update_notify',
  'UPDATE storage.bucket SET notify = $3 WHERE account_id = $1 AND bucket = $2',
);

/** Throws ALREADY_EXISTS, QUOTA_EXCEEDED. */
export async function addBucket(
  tx: Transaction,
  ctx: CallContext,
  { bucket, region }: Pick<BucketRow, 'bucket' | 'region'>,
  nowMs: number,
): Promise<void> {
  if ((await bucketTable.find(tx, ctx, bucket)) !== null) throw problem('ALREADY_EXISTS', { param: 'bucket' });
  await requireRoom(tx, ctx, 'bucket', bucketLimits.buckets);
  await beginHeld(tx, ctx.accountId, ctx.principal.id, nowMs);
  await tx.query(insertBucket, [ctx.accountId, bucket, region, timestamp(nowMs)]);
}

/** What goes by age, and how a client of S3 put it; null: none did. */
export async function saveRules(
  tx: Transaction,
  accountId: string,
  bucket: string,
  { expire, abort_uploads: abort, lifecycle }: AppliedRules & { readonly lifecycle: Lifecycle | null },
): Promise<void> {
  const json = (rules: readonly AgeRule[]) => (rules.length === 0 ? null : JSON.stringify(rules));
  const put = lifecycle === null ? null : JSON.stringify(lifecycle);
  await tx.query(updateRules, [accountId, bucket, json(expire), json(abort), put]);
}

export async function saveNotify(
  tx: Transaction,
  accountId: string,
  bucket: string,
  notify: Notify | null,
): Promise<void> {
  await tx.query(updateNotify, [accountId, bucket, notify === null ? null : JSON.stringify(notify)]);
}

/** Unfinished uploads that end with their bucket: no more, as they end in one transaction. */
const ENDED_UPLOADS_MAX = 10_000;

export const buckets: Resource<BucketRow, unknown, typeof bucketSchema> = {
  ...bucketTable,
  noun: 'bucket',
  keyName: 'bucket',
  keyField: bucketField,
  output: bucketSchema,
  notFound: bucketMissing,
  show: showBucket,
  async remove(tx, ctx, bucket, nowMs) {
    const { accountId } = ctx;
    const row = await bucketTable.find(tx, ctx, bucket);
    if (row === null) return false;
    if (row.object_count > 0n) throw notEmpty(row.object_count === 1n ? '1 object' : `${row.object_count} objects`);
    const uploads = await readOpenIn(tx, accountId, bucket, ENDED_UPLOADS_MAX + 1);
    if (uploads.length > ENDED_UPLOADS_MAX) throw notEmpty(`more than ${ENDED_UPLOADS_MAX} unfinished uploads`);
    await abortIn(tx, { accountId, uploads, keyId: ctx.principal.id }, nowMs);
    await forgetCors(tx, accountId, bucket);
    return bucketTable.remove(tx, ctx, bucket);
  },
};

function notEmpty(what: string): Problem {
  return problem('BUCKET_NOT_EMPTY', { param: 'bucket', message: `The bucket has ${what}.` });
}
