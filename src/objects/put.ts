// Put of an object, as a lane effect: its row, the object it replaces, counters, stored bytes and the charge commit together. Its bytes are
// stored before: those of a new blob, of another object, or of an upload's parts.

import type { CallContext } from '../core/callers/context.ts';
import { type ChargedAnswer, chargeInLane } from '../core/wallet/charge/charge.ts';
import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../core/wallet/lane/lane-item.ts';
import { countAccepted } from '../core/wallet/ledger/accepted-units.ts';
import { byteaArray, int8Array, textArray } from '../db/arrays.ts';
import type { Queryable, Transaction } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { timestamp } from '../db/types.ts';
import { type Problem, problem } from '../problems/problem.ts';
import { type JoinedBlob, type Notify, StorageChanges } from './changes.ts';
import { type Conditions, writeFault } from './conditions.ts';
import type { ObjectServices } from './door.ts';
import { type HeldRow, quotaFault, readHeld } from './held.ts';
import {
  type About,
  bucketMissing,
  type Checksums,
  type KeptHeaders,
  METADATA_HEADER,
  type ObjectRow,
  objectMissing,
  showObject,
  unpaid,
} from './object.ts';
import { accountsOf, bucketId, objectId, readBuckets, readObjects, readWriting } from './store.ts';
import { type OpenUpload, readOpenUploads, sendCompleted, uploadMissing } from './upload-store.ts';

/** What the object is made of. */
export type Content =
  | { readonly kind: 'blob'; readonly blobId: string; readonly bytes: number; readonly etag: string }
  /** Another object, whose bytes are not copied: both name the same blob. */
  | {
      readonly kind: 'copy';
      readonly bucket: string;
      readonly key: Buffer;
      readonly conditions: Conditions;
      /** Worked out of the bytes of this blob, in place of those of the source; null: the source's. */
      readonly checked: { readonly blobId: string; readonly checksums: Checksums } | null;
      /** Of what is said of it: taken from the call in place of the source. */
      readonly replaces: 'nothing' | 'metadata' | 'all';
    }
  /** The parts of an upload as they were at `version`. */
  | {
      readonly kind: 'upload';
      readonly uploadId: string;
      readonly version: number;
      readonly blob: Omit<JoinedBlob, 'accountId'>;
      readonly etag: string;
      /** Numbers of the parts; null: all of them. */
      readonly kept: readonly number[] | null;
    };

export interface PutInput {
  readonly bucket: string;
  readonly key: Buffer;
  readonly content: Content;
  readonly about: About;
  readonly conditions: Conditions;
}

interface PutContext {
  readonly notify: Notify | null;
  readonly present: ObjectRow | null;
  readonly held: HeldRow;
  readonly row: Omit<ObjectRow, 'account_id' | 'created_at' | 'updated_at'>;
  /** Bytes that the account holds more. */
  readonly addedBytes: bigint;
}

type Item = LaneItem<PutInput, PutContext>;

const upsertObjects = statement(
  'storage_upsert_objects',
  `INSERT INTO storage.object AS o (account_id, bucket, key, blob_id, bytes, etag, content_type, headers, metadata, checksums, tags,
                                    created_at, updated_at)
   SELECT w.account_id, u.bucket, u.key, u.blob_id, u.bytes, u.etag, u.content_type, u.headers::jsonb, u.metadata::jsonb,
          u.checksums::jsonb, u.tags::jsonb, $13::timestamptz, $13::timestamptz
     FROM core.wallet w, unnest($2::text[], $3::text[], $4::bytea[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[],
                                $10::text[], $11::text[], $12::text[])
          u(account_id, bucket, key, blob_id, bytes, etag, content_type, headers, metadata, checksums, tags)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id, bucket, key) DO UPDATE
      SET blob_id = excluded.blob_id, bytes = excluded.bytes, etag = excluded.etag, content_type = excluded.content_type,
          headers = excluded.headers, metadata = excluded.metadata, checksums = excluded.checksums, tags = excluded.tags,
          updated_at = excluded.updated_at`,
);

const putEffect: LaneEffect<PutInput, PutContext> = {
  name: 'storage.put',
  exclusiveKeys: ({ accountId, input: { bucket, key, content } }) => {
    const target = objectId({ accountId, bucket, key });
    if (content.kind === 'upload') return [target, `${accountId}\n${content.uploadId}`];
    if (content.kind === 'blob') return [target];
    return [...new Set([target, objectId({ accountId, bucket: content.bucket, key: content.key })])];
  },
  read: readPuts,
  write: writePuts,
};

const BYTES_BESIDE = 512;

/** Puts the object and charges for it. Throws BUCKET_NOT_FOUND, PRECONDITION_FAILED, QUOTA_EXCEEDED, and what a charge throws. */
export function putObject(ctx: CallContext<ObjectServices>, input: PutInput): Promise<ChargedAnswer> {
  const { about, content } = input;
  const bytes = BYTES_BESIDE + JSON.stringify(about).length;
  // What is packed of an upload's parts is one row, and never large: written in a transaction of its own, it would find its upload completed.
  const packed = content.kind === 'upload' ? content.blob.pieces.length + (content.blob.partChecksums?.length ?? 0) : 0;
  const waitingBytes = bytes + packed;
  return chargeInLane(ctx, { units: 1n, effect: putEffect, input, sequences: 0, bytes, waitingBytes, rows: 1 });
}

async function readPuts(tx: Queryable, items: readonly Item[]): Promise<ReadVerdict<PutContext>[]> {
  const targets = items.map(({ accountId, input: { bucket, key } }) => ({ accountId, bucket, key }));
  const sources = items.flatMap(({ accountId, input: { content } }) =>
    content.kind === 'copy' ? [{ accountId, bucket: content.bucket, key: content.key }] : [],
  );
  const written = items.flatMap(({ accountId, input: { content } }) =>
    content.kind === 'blob' ? [{ accountId, blobId: content.blobId }] : [],
  );
  const uploads = items.flatMap(({ accountId, input: { content } }) =>
    content.kind === 'upload' ? [{ accountId, uploadId: content.uploadId }] : [],
  );
  const [buckets, objects, writing, open, held] = await Promise.all([
    readBuckets(tx, [...targets, ...sources]),
    readObjects(tx, [...targets, ...sources]),
    written.length === 0 ? new Set<string>() : readWriting(tx, written),
    uploads.length === 0 ? new Map<string, OpenUpload>() : readOpenUploads(tx, uploads),
    readHeld(tx, accountsOf(items)),
  ]);
  const added = new Map<string, bigint>();
  return items.map((item) => {
    const { accountId } = item;
    const before = added.get(accountId) ?? 0n;
    const verdict = judge(item, { buckets, objects, writing, open, held: held.get(accountId), addedBefore: before });
    if (verdict.kind === 'go') added.set(accountId, before + verdict.context.addedBytes);
    return verdict;
  });
}

interface Known {
  readonly buckets: ReadonlyMap<string, Notify | null>;
  readonly objects: ReadonlyMap<string, ObjectRow>;
  readonly writing: ReadonlySet<string>;
  readonly open: ReadonlyMap<string, OpenUpload>;
  readonly held: HeldRow | undefined;
  /** By calls before it in the commit. */
  readonly addedBefore: bigint;
}

function judge({ accountId, principal, input }: Item, known: Known): ReadVerdict<PutContext> {
  const { bucket, key, content } = input;
  const notify = known.buckets.get(bucketId({ accountId, bucket }));
  const { held } = known;
  if (notify === undefined || held === undefined) return refuse(bucketMissing());
  if (held.unpaid_since !== null) return refuse(unpaid());
  const present = known.objects.get(objectId({ accountId, bucket, key })) ?? null;
  const fault = writeFault(input.conditions, present);
  if (fault !== null) return refuse(fault);
  const row = rowOf(accountId, input, known);
  if (row instanceof Error) return refuse(row);
  // The bytes of an upload were held already, by its parts.
  const heldBefore = content.kind === 'upload' ? (known.open.get(content.uploadId)?.bytes ?? 0n) : 0n;
  const addedBytes = row.bytes - heldBefore - (present?.bytes ?? 0n);
  const full = addedBytes > 0n ? quotaFault(held, known.addedBefore + addedBytes, principal.tier) : null;
  return full === null ? { kind: 'go', context: { notify, present, held, row, addedBytes } } : refuse(full);
}

const refuse = (why: Problem) => ({ kind: 'refuse', problem: why }) as const;

/** What will stand under the key, or why it cannot. */
function rowOf(
  accountId: string,
  { bucket, key, content, about }: PutInput,
  known: Known,
): PutContext['row'] | Problem {
  const said = {
    bucket,
    key,
    content_type: about.contentType,
    headers: about.headers,
    metadata: about.metadata,
    checksums: about.checksums,
    tags: about.tags,
  };
  if (content.kind === 'copy') {
    const source = { accountId, bucket: content.bucket, key: content.key };
    if (!known.buckets.has(bucketId(source))) return bucketMissing('bucket');
    const from = known.objects.get(objectId(source));
    if (from === undefined) return objectMissing();
    const fault = writeFault(content.conditions, from);
    if (fault !== null) return fault;
    const { checked } = content;
    if (checked !== null && checked.blobId !== from.blob_id) return sourceChanged();
    const checksums = checked === null ? from.checksums : checked.checksums;
    const same = { bucket, key, blob_id: from.blob_id, bytes: from.bytes, etag: from.etag, checksums };
    if (content.replaces === 'all') return { ...said, ...same };
    if (content.replaces === 'nothing') return { ...from, ...same };
    return { ...from, ...same, headers: withTextMetadata(from.headers), metadata: about.metadata };
  }
  if (content.kind === 'blob') {
    if (!known.writing.has(content.blobId)) return lateBytes();
    return { ...said, blob_id: content.blobId, bytes: BigInt(content.bytes), etag: content.etag };
  }
  const upload = known.open.get(content.uploadId);
  if (upload === undefined) return uploadMissing();
  if (upload.version !== content.version) return uploadChanged();
  return { ...said, blob_id: content.blob.blobId, bytes: content.blob.bytes, etag: content.etag };
}

/** For metadata that comes as text: how that of the source came says nothing of it. */
function withTextMetadata(headers: KeptHeaders | null): KeptHeaders | null {
  if (headers?.latin1 === undefined) return headers;
  return { ...headers, latin1: headers.latin1.filter((name) => !name.startsWith(METADATA_HEADER)) };
}

/** The bytes came so slowly that they were given up, or the database has lost their row. */
export const lateBytes = (): Problem =>
  problem('SERVICE_UNAVAILABLE', { message: 'The bytes are not kept any more. Send them again.', retryAfterMs: 1_000 });
const sourceChanged = (): Problem =>
  problem('STATE_CONFLICT', {
    detail: 'source_changed',
    message: 'The source was written anew while its checksum was worked out. Copy it again.',
  });
const uploadChanged = (): Problem =>
  problem('STATE_CONFLICT', {
    detail: 'upload_changed',
    message: 'A part of the upload was written meanwhile. Complete it again.',
  });

function writePuts(tx: Transaction, admitted: readonly AdmittedItem<PutInput, PutContext>[], nowMs: number): string[] {
  const changes = new StorageChanges();
  for (const { item, context } of admitted) collect(changes, item, context);
  changes.send(tx, nowMs);
  sendObjects(tx, admitted, nowMs);
  const completed = admitted.flatMap(
    ({
      item: {
        accountId,
        input: { content },
      },
    }) => (content.kind === 'upload' ? [{ accountId, ...content }] : []),
  );
  if (completed.length > 0) sendCompleted(tx, completed, nowMs);
  void countAccepted(
    tx,
    admitted.map(({ item }) => item),
  );
  return admitted.map(({ context: { row, present } }) =>
    JSON.stringify(showObject({ ...row, created_at: present?.created_at ?? nowMs, updated_at: nowMs })),
  );
}

function collect(changes: StorageChanges, { accountId, principal, input }: Item, context: PutContext): void {
  const { notify, present, held, row, addedBytes } = context;
  const { content } = input;
  if (content.kind === 'upload') changes.blob({ accountId, ...content.blob });
  else changes.refs(accountId, row.blob_id, 1);
  if (present !== null) changes.refs(accountId, present.blob_id, -1);
  changes.bucket(accountId, row.bucket, present === null ? 1 : 0, row.bytes - (present?.bytes ?? 0n));
  changes.changeHeld(held, addedBytes, principal.id);
  changes.notice(accountId, principal.id, notify, { kind: 'created', ...row });
}

function sendObjects(tx: Transaction, admitted: readonly AdmittedItem<PutInput, PutContext>[], nowMs: number): void {
  const rows = admitted.map(({ context }) => context.row);
  const json = (value: object | null) => (value === null ? null : JSON.stringify(value));
  void tx.query(upsertObjects, [
    accountsOf(admitted.map(({ item }) => item)),
    textArray(admitted.map(({ item }) => item.accountId)),
    textArray(rows.map((row) => row.bucket)),
    byteaArray(rows.map((row) => row.key)),
    textArray(rows.map((row) => row.blob_id)),
    int8Array(rows.map((row) => row.bytes)),
    textArray(rows.map((row) => row.etag)),
    textArray(rows.map((row) => row.content_type)),
    textArray(rows.map((row) => json(row.headers))),
    textArray(rows.map((row) => json(row.metadata))),
    textArray(rows.map((row) => json(row.checksums))),
    textArray(rows.map((row) => json(row.tags))),
    timestamp(nowMs),
  ]);
}
