// Multipart uploads: each part is a blob of its own. Completing an upload makes one object of its parts without moving a byte.

import { createHash } from 'node:crypto';
import type { CallContext } from '../core/callers/context.ts';
import { runWrite } from '../core/idempotency/write.ts';
import { type ChargedAnswer, chargeInLane } from '../core/wallet/charge/charge.ts';
import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../core/wallet/lane/lane-item.ts';
import { countAccepted } from '../core/wallet/ledger/accepted-units.ts';
import type { Queryable, Transaction } from '../db/database.ts';
import { newId } from '../lib/ids.ts';
import { invalidField, type Problem, problem } from '../problems/problem.ts';
import { packedPiecesOf, type WrittenBlob } from './blobs.ts';
import { StorageChanges } from './changes.ts';
import { combinedChecksums } from './combined-checksums.ts';
import type { Conditions } from './conditions.ts';
import type { ObjectServices } from './door.ts';
import { type HeldRow, quotaFault, readHeld } from './held.ts';
import { OBJECT_BYTES_MAX, PART_BYTES_MIN, PARTS_MAX } from './limits.ts';
import { type About, bucketMissing, type Checksums, unpaid } from './object.ts';
import { packPartChecksums } from './part-checksums.ts';
import { lateBytes, putObject } from './put.ts';
import { accountsOf, bucketId, readBuckets, readWriting } from './store.ts';
import {
  findUpload,
  type NewUpload,
  type OpenUpload,
  type PartRow,
  partId,
  readNumbered,
  readOpenUploads,
  readParts,
  saveUpload,
  sendAborted,
  sendParts,
  type UploadRow,
  uploadMissing,
  type WrittenPart,
} from './upload-store.ts';

/** Begins an upload, free of charge. Answers its id. Throws BUCKET_NOT_FOUND. */
export async function beginUpload(
  ctx: CallContext<ObjectServices>,
  upload: Omit<NewUpload, 'uploadId'>,
): Promise<string> {
  const { accountId } = ctx;
  const uploadId = newId('upl_');
  await runWrite(ctx, async (tx, { nowMs }) => {
    const buckets = await readBuckets(tx, [{ accountId, bucket: upload.bucket }]);
    if (!buckets.has(bucketId({ accountId, bucket: upload.bucket }))) throw bucketMissing();
    await saveUpload(tx, accountId, { ...upload, uploadId }, nowMs);
    return null;
  });
  return uploadId;
}

/** An open upload of this key. Throws NOT_FOUND with the detail `upload`. */
export async function requireUpload(
  db: Queryable,
  accountId: string,
  named: { readonly uploadId: string; readonly bucket: string; readonly key: Buffer },
): Promise<UploadRow> {
  const upload = await findUpload(db, accountId, named.uploadId);
  const isSame = upload !== null && upload.bucket === named.bucket && upload.key.equals(named.key);
  if (!isSame || upload.state === 'aborted') throw uploadMissing();
  return upload;
}

interface PartInput {
  readonly uploadId: string;
  readonly partNumber: number;
  readonly blob: WrittenBlob;
  readonly checksums: Checksums | null;
}

interface PartContext {
  readonly held: HeldRow;
  readonly part: WrittenPart;
}

type PartItem = LaneItem<PartInput, PartContext>;

const partEffect: LaneEffect<PartInput, PartContext> = {
  name: 'storage.part',
  exclusiveKeys: ({ accountId, input: { uploadId, partNumber } }) => [`${accountId}\n${uploadId}\n${partNumber}`],
  read: readPartPuts,
  write: writeParts,
};

const BYTES_BESIDE = 512;

/** Keeps a part, in place of an earlier one of its number, and charges for it. Throws NOT_FOUND, QUOTA_EXCEEDED, and what a charge throws. */
export function putPart(ctx: CallContext<ObjectServices>, input: PartInput): Promise<ChargedAnswer> {
  return chargeInLane(ctx, { units: 1n, effect: partEffect, input, sequences: 0, bytes: BYTES_BESIDE, rows: 1 });
}

async function readPartPuts(tx: Queryable, items: readonly PartItem[]): Promise<ReadVerdict<PartContext>[]> {
  const refs = items.map(({ accountId, input: { uploadId, partNumber, blob } }) => ({
    accountId,
    uploadId,
    partNumber,
    blobId: blob.blobId,
  }));
  const [open, before, writing, held] = await Promise.all([
    readOpenUploads(tx, refs),
    readNumbered(tx, refs),
    readWriting(tx, refs),
    readHeld(tx, accountsOf(refs)),
  ]);
  const added = new Map<string, bigint>();
  return items.map((item, i) => {
    const ref = refs[i] as (typeof refs)[number];
    const row = held.get(item.accountId);
    const fault = partFault({ open: open.get(ref.uploadId), isWriting: writing.has(ref.blobId), row });
    if (fault !== null) return { kind: 'refuse', problem: fault };
    const earlier = before.get(partId(ref)) ?? null;
    const { blob, checksums } = item.input;
    const part = { ...ref, bytes: BigInt(blob.bytes), etag: blob.md5, checksums, before: earlier };
    const grown = part.bytes - (earlier?.bytes ?? 0n);
    const sum = (added.get(item.accountId) ?? 0n) + grown;
    const full = grown > 0n ? quotaFault(row as HeldRow, sum, item.principal.tier) : null;
    if (full !== null) return { kind: 'refuse', problem: full };
    added.set(item.accountId, sum);
    return { kind: 'go', context: { held: row as HeldRow, part } };
  });
}

interface PartKnown {
  readonly open: OpenUpload | undefined;
  readonly isWriting: boolean;
  readonly row: HeldRow | undefined;
}

function partFault({ open, isWriting, row }: PartKnown): Problem | null {
  if (open === undefined || row === undefined) return uploadMissing();
  if (row.unpaid_since !== null) return unpaid();
  return isWriting ? null : lateBytes();
}

function writeParts(
  tx: Transaction,
  admitted: readonly AdmittedItem<PartInput, PartContext>[],
  nowMs: number,
): string[] {
  const changes = new StorageChanges();
  for (const { item, context } of admitted) {
    const { part, held } = context;
    changes.refs(item.accountId, part.blobId, 1);
    if (part.before !== null) changes.refs(item.accountId, part.before.blob_id, -1);
    changes.changeHeld(held, part.bytes - (part.before?.bytes ?? 0n), item.principal.id);
  }
  changes.send(tx, nowMs);
  sendParts(
    tx,
    admitted.map(({ context }) => context.part),
    nowMs,
  );
  void countAccepted(
    tx,
    admitted.map(({ item }) => item),
  );
  return admitted.map(({ context: { part } }) => JSON.stringify({ etag: part.etag }));
}

/** A part as the completing call names it. */
export interface NamedPart {
  readonly partNumber: number;
  readonly etag: string;
  readonly checksums: Checksums | null;
}

export interface Completion {
  readonly uploadId: string;
  readonly bucket: string;
  readonly key: Buffer;
  readonly parts: readonly NamedPart[];
  readonly conditions: Conditions;
  /** What the caller says of the whole; compared with what is made of the parts where that can be. */
  readonly checksums: Checksums | null;
}

export interface Completed {
  readonly etag: string;
  readonly checksums: Checksums | null;
  /** Null: it was completed before, and is not charged again. */
  readonly charged: ChargedAnswer | null;
}

/**
 * Makes the object of the parts named, in that order. One that is completed already answers the same again. Throws NOT_FOUND, VALIDATION_FAILED with
 * the details `part_order`, `part` and `part_too_small`, STATE_CONFLICT where a part comes in between, and what a PUT throws.
 */
export async function completeUpload(ctx: CallContext<ObjectServices>, completion: Completion): Promise<Completed> {
  const { db } = ctx.core;
  const upload = await requireUpload(db, ctx.accountId, completion);
  if (upload.state === 'completed') return { etag: upload.etag ?? '', checksums: null, charged: null };
  const known = await readParts(db, ctx.accountId, upload.upload_id, { after: 0, limit: PARTS_MAX });
  const parts = chosenParts(completion.parts, known);
  const etag = etagOf(parts);
  const { checksum } = upload;
  const checksums = checksum === null ? null : await combinedChecksums(checksum, parts, completion.checksums);
  const partChecksums = checksum === null ? null : packPartChecksums(checksum.algorithm, parts);
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0n);
  if (bytes > BigInt(OBJECT_BYTES_MAX))
    throw problem('PAYLOAD_TOO_LARGE', { message: `An object may have at most ${OBJECT_BYTES_MAX} bytes.` });
  const pieces = await packedPiecesOf(
    db,
    ctx.accountId,
    parts.map((part) => part.blob_id),
  );
  const about: About = {
    contentType: upload.content_type,
    headers: upload.headers,
    metadata: upload.metadata,
    checksums,
    tags: upload.tags,
  };
  const charged = await putObject(ctx, {
    bucket: completion.bucket,
    key: completion.key,
    about,
    conditions: completion.conditions,
    content: {
      kind: 'upload',
      uploadId: upload.upload_id,
      version: upload.version,
      etag,
      blob: { blobId: newId('blb_'), bytes, pieces, partChecksums },
      kept: parts.length === known.length ? null : parts.map((part) => part.part_number),
    },
  });
  return { etag, checksums, charged };
}

function chosenParts(named: readonly NamedPart[], known: readonly PartRow[]): PartRow[] {
  if (named.length === 0 || named.length > PARTS_MAX) {
    throw invalidField('parts', 'parts', `An object is made of 1 to ${PARTS_MAX} parts.`);
  }
  const byNumber = new Map(known.map((part) => [part.part_number, part]));
  let before = 0;
  return named.map(({ partNumber, etag, checksums }, i) => {
    if (partNumber <= before)
      throw invalidField('parts', 'part_order', 'Parts are named in ascending order, each once.');
    before = partNumber;
    const part = byNumber.get(partNumber);
    const isSame = part !== undefined && part.etag === etag && isSameChecksum(part.checksums, checksums);
    if (!isSame) throw invalidField('parts', 'part', `Part ${partNumber} was not uploaded, or is another one.`);
    if (i < named.length - 1 && part.bytes < BigInt(PART_BYTES_MIN)) {
      throw invalidField(
        'parts',
        'part_too_small',
        `Part ${partNumber} has ${part.bytes} bytes; all but the last need ${PART_BYTES_MIN}.`,
      );
    }
    return part;
  });
}

function isSameChecksum(kept: Checksums | null, said: Checksums | null): boolean {
  return Object.entries(said ?? {}).every(
    ([name, value]) => name === 'type' || (kept as Record<string, string> | null)?.[name] === value,
  );
}

/** MD5 of the MD5s of the parts, and how many there are. */
function etagOf(parts: readonly PartRow[]): string {
  const md5 = createHash('md5');
  for (const { etag } of parts) md5.update(etag, 'hex');
  return `${md5.digest('hex')}-${parts.length}`;
}

/** Gives the upload up: its parts are not held any more. Throws NOT_FOUND. */
export async function abortUpload(
  ctx: CallContext<ObjectServices>,
  named: { readonly uploadId: string; readonly bucket: string; readonly key: Buffer },
): Promise<void> {
  const { accountId } = ctx;
  await runWrite(ctx, async (tx, { nowMs }) => {
    const upload = await requireUpload(tx, accountId, named);
    if (upload.state !== 'open') throw uploadMissing();
    await abortIn(tx, { accountId, uploads: [upload], keyId: ctx.principal.id }, nowMs);
    return null;
  });
}

export interface Abortion {
  readonly accountId: string;
  /** Open ones. */
  readonly uploads: readonly Pick<UploadRow, 'upload_id' | 'bytes'>[];
  /** Who is told to have done it; null: time has. */
  readonly keyId: string | null;
}

/** Their parts are not held any more, and go by a sweep. Under the lock of the wallet. */
export async function abortIn(tx: Transaction, { accountId, uploads, keyId }: Abortion, nowMs: number): Promise<void> {
  if (uploads.length === 0) return;
  const held = (await readHeld(tx, accountsOf([{ accountId }]))).get(accountId);
  if (held === undefined) throw new Error(`the account ${accountId} has an upload and holds nothing`);
  const changes = new StorageChanges();
  const bytes = uploads.reduce((sum, upload) => sum + upload.bytes, 0n);
  changes.changeHeld(held, -bytes, keyId ?? held.key_id);
  changes.send(tx, nowMs);
  await sendAborted(
    tx,
    uploads.map(({ upload_id: uploadId }) => ({ accountId, uploadId })),
    nowMs,
  );
}
