// S3 operations on one object. A read is charged once there is something to answer; a write is charged in the commit that makes its bytes the
// object.

import { runWrite } from '../../../core/idempotency/write.ts';
import type { Queryable } from '../../../db/database.ts';
import type { Answer } from '../../../kit/capability.ts';
import type { RawAnswer } from '../../../kit/raw-route.ts';
import type { CallContext } from '../../../kit/services.ts';
import { partOf } from '../../../lib/ranges.ts';
import { keepBytes } from '../../../objects/blobs.ts';
import { judgeConditions } from '../../../objects/conditions.ts';
import { requireWritable } from '../../../objects/door.ts';
import { type About, type ObjectRow, requireMetadata, type StoredObject } from '../../../objects/object.ts';
import { putObject } from '../../../objects/put.ts';
import { chargeRead, type FoundObject, findObject } from '../../../objects/read.ts';
import { removeMatching } from '../../../objects/remove.ts';
import { removeObject } from '../../../objects/remove-together.ts';
import type { Problem } from '../../../problems/problem.ts';
import { weighKeys } from '../capabilities/object-delete.ts';
import {
  bodyBytes,
  bucketOf,
  checksumsShown,
  emptyAnswer,
  idHeader,
  objectOf,
  type S3Call,
  type StoredChecksums,
  xmlAnswer,
} from './call.ts';
import { type AskedPart, checksumsOfPart, partAnswer, partAsked, partsShown } from './part-reads.ts';
import { type DeleteRequest, readDelete } from './wire/bodies.ts';
import { type SentChecksums, sentChecksums } from './wire/checksums.ts';
import { conditionsOf, deleteConditionsOf, writeConditionsOf } from './wire/conditions.ts';
import { nameOf } from './wire/failures.ts';
import { answeredHeaders, refuseUnserved, type WrittenObject, writtenObject } from './wire/object-headers.ts';
import { refusal } from './wire/refusals.ts';
import type { XmlFields } from './wire/xml.ts';

const FREE: Answer = { data: null };

export async function getObject(call: S3Call): Promise<RawAnswer> {
  const { request, capability } = call;
  refuseUnserved(call.headers);
  let reading: Reading | undefined;
  await request.perform(capability, async (ctx) => {
    reading = await beginReading(call, ctx, await findObject(ctx, objectOf(call)));
    const { row } = reading.found;
    const content = { length: Number(row.bytes), etag: `"${row.etag}"`, lastModifiedMs: row.updated_at };
    // What is answered without bytes is free; a range that is not there is refused with the answer.
    if (reading.isUnchanged || partOf(request.headers, content) === 'none') return FREE;
    return chargeRead(ctx, async () => 'null');
  });
  return objectAnswer(call, reading as Reading);
}

export async function headObject(call: S3Call): Promise<RawAnswer> {
  refuseUnserved(call.headers);
  let reading: Reading | undefined;
  await call.request.perform(call.capability, async (ctx) => {
    reading = await beginReading(call, ctx, await findObject(ctx, objectOf(call), { mustBePaid: false }));
    return FREE;
  });
  return objectAnswer(call, reading as Reading);
}

/** What a read is answered with. */
interface Reading {
  readonly found: FoundObject;
  /** The reader has it already. */
  readonly isUnchanged: boolean;
  /** Null: the whole, or a range of it. */
  readonly part: AskedPart | null;
  /** Of the whole or the part; null: none are asked for. */
  readonly checksums: StoredChecksums | null;
}

/** Throws PreconditionFailed, and what `partAsked` throws. */
async function beginReading(call: S3Call, { core }: CallContext, found: FoundObject): Promise<Reading> {
  const verdict = judgeConditions(conditionsOf(call.headers), found.row);
  if (verdict === 'failed') throw refusal('PreconditionFailed', 'The object is not the one that the conditions name.');
  const part = partAsked(call, found);
  if (verdict === 'not_modified') return { found, isUnchanged: true, part, checksums: null };
  return { found, isUnchanged: false, part, checksums: await checksumsAsked(call, core.db, found, part) };
}

async function checksumsAsked(
  { headers }: S3Call,
  db: Queryable,
  found: FoundObject,
  part: AskedPart | null,
): Promise<StoredChecksums | null> {
  if (String(headers['x-amz-checksum-mode']).toUpperCase() !== 'ENABLED') return null;
  if (part !== null) return checksumsOfPart(db, found, part);
  // Clients would compare that of the whole with the range.
  return headers.range === undefined ? (found.row.checksums as StoredChecksums | null) : null;
}

function objectAnswer(call: S3Call, { found, isUnchanged, part, checksums }: Reading): RawAnswer {
  const { row, open } = found;
  const tags = Object.keys(row.tags ?? {}).length;
  const described: Record<string, string> = {
    ...answeredHeaders(row, call.address),
    ...(tags === 0 ? {} : { 'x-amz-tagging-count': String(tags) }),
    ...checksumsShown(checksums, 'headers'),
    ...idHeader(call),
  };
  const etag = `"${row.etag}"`;
  if (isUnchanged) {
    const { 'content-type': _, ...unchanged } = described;
    const changed = new Date(row.updated_at).toUTCString();
    return { status: 304, headers: { ...unchanged, etag, 'last-modified': changed }, body: '' };
  }
  if (part !== null) return partAnswer(call, found, part, described);
  return {
    status: 200,
    headers: described,
    body: { length: Number(row.bytes), etag, lastModifiedMs: row.updated_at, open, rangesOfHead: true },
  };
}

export async function putObjectOf(call: S3Call): Promise<RawAnswer> {
  const { request, capability, headers } = call;
  refuseUnserved(headers);
  const target = objectOf(call);
  const bytes = bodyBytes(call);
  const sent = sentChecksums(headers);
  const about = aboutOf(writtenObject(headers));
  const conditions = writeConditionsOf(headers);
  let kept: StoredChecksums | null = null;
  const { data } = await request.perform(capability, async (ctx) => {
    await requireWritable(ctx, target.bucket, bytes);
    const algorithms = sent.algorithm === null ? [] : [sent.algorithm];
    return keepBytes(ctx, { source: request.stream, bytes, algorithms }, (blob) => {
      requireDigests(sent, blob);
      kept = sent.algorithm === null ? null : { ...blob.checksums, type: 'FULL_OBJECT' };
      return putObject(ctx, {
        ...target,
        conditions,
        about: { ...about, checksums: kept },
        content: { kind: 'blob', blobId: blob.blobId, bytes, etag: blob.md5 },
      });
    });
  });
  return emptyAnswer(call, 200, { etag: `"${storedObject(data).etag}"`, ...checksumsShown(kept, 'headers') });
}

/** Throws BadDigest: the body is another one than was said. */
export function requireDigests(sent: SentChecksums, found: { md5: string; checksums: StoredChecksums }): void {
  const { md5, algorithm, value } = sent;
  if (md5 !== null && md5 !== found.md5) throw refusal('BadDigest', 'The body is not the one of Content-MD5.');
  if (algorithm !== null && value !== null && found.checksums[algorithm] !== value) {
    throw refusal('BadDigest', `The body is not the one of x-amz-checksum-${algorithm}.`);
  }
}

export function aboutOf({ contentType, headers, metadata, tags }: WrittenObject): About {
  requireMetadata(metadata);
  const orNull = <T extends object>(pairs: T) => (Object.keys(pairs).length === 0 ? null : pairs);
  return { contentType, headers: orNull(headers), metadata: orNull(metadata), tags: orNull(tags), checksums: null };
}

/** What a write answered. */
export function storedObject(data: unknown): StoredObject {
  return JSON.parse((data as { readonly text: string }).text);
}

export async function deleteObject(call: S3Call): Promise<RawAnswer> {
  const target = objectOf(call);
  const conditions = deleteConditionsOf(call.headers);
  await call.request.perform(call.capability, async (ctx) => {
    await removeObject(ctx, { ...target, conditions });
    return FREE;
  });
  return emptyAnswer(call, 204);
}

/** What is not deleted for its conditions stands in the answer; all others are. */
export async function deleteObjects(call: S3Call): Promise<RawAnswer> {
  const { request } = call;
  let sent: DeleteRequest = { objects: [], isQuiet: true };
  let faults: readonly (Problem | null)[] = [];
  await request.perform(call.capability, async (ctx) => {
    // Within the call, so that its rate has been weighed by the bytes of the body, whatever is in them.
    sent = await request.read(readDelete, request.body);
    const asked = sent.objects.map(({ key, conditions }) => ({ key: Buffer.from(key), conditions }));
    weighKeys(ctx, asked.length);
    const { accountId, principal } = ctx;
    return runWrite(ctx, async (tx, { nowMs }) => {
      faults = await removeMatching(tx, { accountId, bucket: bucketOf(call), asked, keyId: principal.id }, nowMs);
      return null;
    });
  });
  const deleted = sent.objects.filter((_, i) => !sent.isQuiet && !faults[i]);
  const errors = sent.objects.flatMap(({ key: Key }, i) => {
    const fault = faults[i];
    return fault ? [{ Key, Code: nameOf(fault)[0], Message: fault.message }] : [];
  });
  return xmlAnswer(call, 'DeleteResult', { Deleted: deleted.map(({ key }) => ({ Key: key })), Error: errors });
}

/** What x-amz-object-attributes names, in the order of the answer. */
export async function getAttributes(call: S3Call): Promise<RawAnswer> {
  const asked = new Set(String(call.headers['x-amz-object-attributes'] ?? '').split(/[\s,]+/));
  let row: ObjectRow | undefined;
  let parts: XmlFields | null = null;
  await call.request.perform(call.capability, async (ctx) => {
    const found = await findObject(ctx, objectOf(call), { mustBePaid: false });
    row = found.row;
    if (asked.has('ObjectParts') && row.etag.includes('-')) parts = await partsShown(ctx.core.db, call, found);
    return FREE;
  });
  const { etag, bytes, checksums, updated_at: changedMs } = row as ObjectRow;
  const answer = xmlAnswer(call, 'GetObjectAttributesResponse', {
    ...(asked.has('ETag') ? { ETag: etag } : {}),
    ...(asked.has('Checksum') && checksums !== null
      ? { Checksum: checksumsShown(checksums as StoredChecksums, 'elements') }
      : {}),
    ...(parts === null ? {} : { ObjectParts: parts }),
    ...(asked.has('StorageClass') ? { StorageClass: 'STANDARD' } : {}),
    ...(asked.has('ObjectSize') ? { ObjectSize: Number(bytes) } : {}),
  });
  return { ...answer, headers: { ...answer.headers, 'last-modified': new Date(changedMs).toUTCString() } };
}
