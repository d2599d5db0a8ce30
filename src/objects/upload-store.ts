// SQL of multipart uploads and their parts.
import { int4Array, int8Array, textArray } from '../db/arrays.ts';
import type { Queryable, Transaction } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { timestamp } from '../db/types.ts';
import { type Problem, problem } from '../problems/problem.ts';
import type { UploadChecksum } from './combined-checksums.ts';
import { UPLOAD_ENDED_MS, UPLOAD_IDLE_MS } from './limits.ts';
import type { About, Checksums, KeptHeaders } from './object.ts';
import { accountsOf } from './store.ts';

export interface UploadRow {
  readonly account_id: string;
  readonly upload_id: string;
  readonly bucket: string;
  readonly key: Buffer;
  readonly state: 'open' | 'completed' | 'aborted';
  readonly version: number;
  readonly part_count: number;
  readonly bytes: bigint;
  readonly content_type: string;
  readonly headers: KeptHeaders | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly tags: Readonly<Record<string, string>> | null;
  readonly checksum: UploadChecksum | null;
  readonly etag: string | null;
  readonly created_at: number;
}

export interface PartRow {
  readonly part_number: number;
  readonly blob_id: string;
  readonly bytes: bigint;
  readonly etag: string;
  readonly checksums: Checksums | null;
  readonly updated_at: number;
}

export interface OpenUpload {
  readonly version: number;
  /** Of all its parts. */
  readonly bytes: bigint;
  readonly bucket: string;
  readonly key: Buffer;
}

const COLUMNS =
  'p.account_id, p.upload_id, p.bucket, p.key, p.state, p.version, p.part_count, p.bytes, p.content_type, p.headers, p.metadata, p.tags, p.checksum, p.etag, p.created_at';

const insertUpload = statement(
  'storage_insert_upload',
  `INSERT INTO storage.upload (account_id, upload_id, bucket, key, state, content_type, headers, metadata, tags, checksum, created_at, due_at)
   VALUES ($1, $2, $3, $4, 'open', $5, $6, $7, $8, $9, $10, $11)`,
);
const selectUpload = statement(
  'storage_select_upload',
  `SELECT ${COLUMNS} FROM storage.upload p WHERE p.account_id = $1 AND p.upload_id = $2`,
);
const selectOpen = statement(
  'storage_select_open_uploads',
  `SELECT p.account_id, p.upload_id, p.version, p.bytes, p.bucket, p.key
     FROM unnest($2::text[], $3::text[]) u(account_id, upload_id), storage.upload p
    WHERE p.account_id = ANY($1::text[]) AND p.account_id = u.account_id AND p.upload_id = u.upload_id AND p.state = 'open'`,
);
const selectParts = statement(
  'storage_select_parts',
  `SELECT t.part_number, t.blob_id, t.bytes, t.etag, t.checksums, t.updated_at FROM storage.part t
    WHERE t.account_id = $1 AND t.upload_id = $2 AND t.part_number > $3::int ORDER BY t.part_number LIMIT $4::int`,
);
const listOpen = statement(
  'storage_list_uploads',
  `SELECT ${COLUMNS} FROM storage.upload p
    WHERE p.account_id = $1 AND p.bucket = $2 AND p.state = 'open' AND (p.key, p.upload_id) > ($3, $4) AND p.key < $5
    ORDER BY p.key, p.upload_id LIMIT $6::int`,
);
const selectOpenIn = statement(
  'storage_select_open_in_bucket',
  `SELECT p.upload_id, p.bytes FROM storage.upload p
    WHERE p.account_id = $1 AND p.bucket = $2 AND p.state = 'open' LIMIT $3::int`,
);
const endUploads = statement(
  'storage_end_uploads',
  `UPDATE storage.upload AS p
      SET state = u.state, etag = u.etag, kept = u.kept, due_at = $6::timestamptz
     FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $7::text[]) u(account_id, upload_id, etag, kept, state)
    WHERE p.account_id = ANY($1::text[]) AND p.account_id = u.account_id AND p.upload_id = u.upload_id`,
);

export const uploadMissing = (): Problem =>
  problem('NOT_FOUND', {
    param: 'upload_id',
    detail: 'upload',
    message: 'There is no such upload: it was completed, aborted, or never begun.',
  });

export interface NewUpload {
  readonly uploadId: string;
  readonly bucket: string;
  readonly key: Buffer;
  readonly about: About;
  readonly checksum: UploadChecksum | null;
}

export async function saveUpload(tx: Transaction, accountId: string, upload: NewUpload, nowMs: number): Promise<void> {
  const { uploadId, bucket, key, about, checksum } = upload;
  const json = (value: object | null) => (value === null ? null : JSON.stringify(value));
  await tx.query(insertUpload, [
    ...[accountId, uploadId, bucket, key, about.contentType],
    ...[json(about.headers), json(about.metadata), json(about.tags), json(checksum)],
    ...[timestamp(nowMs), timestamp(nowMs + UPLOAD_IDLE_MS)],
  ]);
}

export async function findUpload(db: Queryable, accountId: string, uploadId: string): Promise<UploadRow | null> {
  return (await db.query<UploadRow>(selectUpload, [accountId, uploadId])).rows[0] ?? null;
}

/** Open ones, by id. */
export async function readOpenUploads(
  tx: Queryable,
  refs: readonly { readonly accountId: string; readonly uploadId: string }[],
): Promise<Map<string, OpenUpload>> {
  const { rows } = await tx.query<OpenUpload & { upload_id: string }>(selectOpen, [
    accountsOf(refs),
    textArray(refs.map(({ accountId }) => accountId)),
    textArray(refs.map(({ uploadId }) => uploadId)),
  ]);
  return new Map(rows.map((row) => [row.upload_id, row]));
}

export async function readParts(
  db: Queryable,
  accountId: string,
  uploadId: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly PartRow[]> {
  return (await db.query<PartRow>(selectParts, [accountId, uploadId, after, limit])).rows;
}

/** Of one bucket, by key and id, behind `after`; keys below `end`. */
export async function listUploads(
  db: Queryable,
  accountId: string,
  bucket: string,
  bounds: { readonly afterKey: Buffer; readonly afterId: string; readonly end: Buffer; readonly limit: number },
): Promise<readonly UploadRow[]> {
  const { afterKey, afterId, end, limit } = bounds;
  return (await db.query<UploadRow>(listOpen, [accountId, bucket, afterKey, afterId, end, limit])).rows;
}

/** Open ones of a bucket, in no order. */
export async function readOpenIn(
  db: Queryable,
  accountId: string,
  bucket: string,
  limit: number,
): Promise<readonly Pick<UploadRow, 'upload_id' | 'bytes'>[]> {
  const { rows } = await db.query<Pick<UploadRow, 'upload_id' | 'bytes'>>(selectOpenIn, [accountId, bucket, limit]);
  return rows;
}

export interface EndedUpload {
  readonly accountId: string;
  readonly uploadId: string;
  readonly etag: string;
  readonly kept: readonly number[] | null;
}

/** Its parts go by a sweep: what is kept of them belongs to the object by then. */
export function sendCompleted(tx: Transaction, ended: readonly EndedUpload[], nowMs: number): void {
  void sendEnd(tx, ended, 'completed', nowMs);
}

export function sendAborted(
  tx: Transaction,
  aborted: readonly Pick<EndedUpload, 'accountId' | 'uploadId'>[],
  nowMs: number,
): Promise<unknown> {
  const ended = aborted.map((upload) => ({ ...upload, etag: '', kept: null }));
  return sendEnd(tx, ended, 'aborted', nowMs - UPLOAD_ENDED_MS);
}

function sendEnd(tx: Transaction, ended: readonly EndedUpload[], state: string, nowMs: number): Promise<unknown> {
  return tx.query(endUploads, [
    accountsOf(ended),
    textArray(ended.map(({ accountId }) => accountId)),
    textArray(ended.map(({ uploadId }) => uploadId)),
    textArray(ended.map(({ etag }) => etag)),
    textArray(ended.map(({ kept }) => (kept === null ? null : JSON.stringify(kept)))),
    timestamp(nowMs + UPLOAD_ENDED_MS),
    textArray(ended.map(() => state)),
  ]);
}

const upsertParts = statement(
  'storage_upsert_parts',
  `INSERT INTO storage.part AS t (account_id, upload_id, part_number, blob_id, bytes, etag, checksums, updated_at)
   SELECT w.account_id, u.upload_id, u.part_number, u.blob_id, u.bytes, u.etag, u.checksums::jsonb, $8::timestamptz
     FROM core.wallet w, unnest($2::text[], $3::text[], $4::integer[], $5::text[], $6::bigint[], $7::text[], $9::text[])
          u(account_id, upload_id, part_number, blob_id, bytes, etag, checksums)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id, upload_id, part_number) DO UPDATE
      SET blob_id = excluded.blob_id, bytes = excluded.bytes, etag = excluded.etag, checksums = excluded.checksums, updated_at = excluded.updated_at`,
);
const countParts = statement(
  'storage_count_parts',
  `UPDATE storage.upload AS p
      SET version = p.version + 1, part_count = p.part_count + u.added, bytes = p.bytes + u.bytes, due_at = $6::timestamptz
     FROM unnest($2::text[], $3::text[], $4::integer[], $5::bigint[]) u(account_id, upload_id, added, bytes)
    WHERE p.account_id = ANY($1::text[]) AND p.account_id = u.account_id AND p.upload_id = u.upload_id`,
);
const selectPart = statement(
  'storage_select_numbered_parts',
  `SELECT t.account_id, t.upload_id, t.part_number, t.blob_id, t.bytes
     FROM unnest($2::text[], $3::text[], $4::integer[]) u(account_id, upload_id, part_number), storage.part t
    WHERE t.account_id = ANY($1::text[]) AND t.account_id = u.account_id AND t.upload_id = u.upload_id AND t.part_number = u.part_number`,
);

interface PartRef {
  readonly accountId: string;
  readonly uploadId: string;
  readonly partNumber: number;
}

export const partId = ({ accountId, uploadId, partNumber }: PartRef): string =>
  `${accountId}\n${uploadId}\n${partNumber}`;

type FoundPart = Pick<PartRow, 'blob_id' | 'bytes' | 'part_number'> & {
  readonly account_id: string;
  readonly upload_id: string;
};

/** Those that are there, by `partId`. */
export async function readNumbered(tx: Queryable, refs: readonly PartRef[]): Promise<Map<string, FoundPart>> {
  const { rows } = await tx.query<FoundPart>(selectPart, [
    accountsOf(refs),
    textArray(refs.map(({ accountId }) => accountId)),
    textArray(refs.map(({ uploadId }) => uploadId)),
    int4Array(refs.map(({ partNumber }) => partNumber)),
  ]);
  return new Map(
    rows.map((row) => [
      partId({ accountId: row.account_id, uploadId: row.upload_id, partNumber: row.part_number }),
      row,
    ]),
  );
}

export interface WrittenPart extends PartRef {
  readonly blobId: string;
  readonly bytes: bigint;
  readonly etag: string;
  readonly checksums: Checksums | null;
  /** The one that it takes the place of. */
  readonly before: FoundPart | null;
}

/** Sends the parts of a commit, and what their uploads have then. */
export function sendParts(tx: Transaction, parts: readonly WrittenPart[], nowMs: number): void {
  void tx.query(upsertParts, [
    accountsOf(parts),
    textArray(parts.map(({ accountId }) => accountId)),
    textArray(parts.map(({ uploadId }) => uploadId)),
    int4Array(parts.map(({ partNumber }) => partNumber)),
    textArray(parts.map(({ blobId }) => blobId)),
    int8Array(parts.map(({ bytes }) => bytes)),
    textArray(parts.map(({ etag }) => etag)),
    timestamp(nowMs),
    textArray(parts.map(({ checksums }) => (checksums === null ? null : JSON.stringify(checksums)))),
  ]);
  const uploads = [...Map.groupBy(parts, ({ accountId, uploadId }) => `${accountId}\n${uploadId}`).values()];
  const firsts = uploads.map(([first]) => first as WrittenPart);
  const addedParts = (of: readonly WrittenPart[]) => of.filter(({ before }) => before === null).length;
  const grownBytes = (of: readonly WrittenPart[]) =>
    of.reduce((sum, { bytes, before }) => sum + bytes - (before?.bytes ?? 0n), 0n);
  void tx.query(countParts, [
    accountsOf(firsts),
    textArray(firsts.map(({ accountId }) => accountId)),
    textArray(firsts.map(({ uploadId }) => uploadId)),
    int4Array(uploads.map(addedParts)),
    int8Array(uploads.map(grownBytes)),
    timestamp(nowMs + UPLOAD_IDLE_MS),
  ]);
}
