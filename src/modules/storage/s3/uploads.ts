// S3 multipart upload operations.

import type { RawAnswer } from '../../../kit/raw-route.ts';
import { keepBytes } from '../../../objects/blobs.ts';
import { requireWritable } from '../../../objects/door.ts';
import { findObject } from '../../../objects/read.ts';
import {
  abortUpload as abort,
  beginUpload,
  type Completed,
  completeUpload as complete,
  putPart,
  requireUpload,
} from '../../../objects/uploads.ts';
import {
  bodyBytes,
  checksumsShown,
  emptyAnswer,
  objectOf,
  objectUrl,
  type S3Call,
  type StoredChecksums,
  xmlAnswer,
} from './call.ts';
import { aboutOf, requireDigests } from './objects.ts';
import { partNumberOf, readComplete } from './wire/bodies.ts';
import { sentChecksums, uploadChecksum, wholeChecksum } from './wire/checksums.ts';
import { requireSource, writeConditionsOf } from './wire/conditions.ts';
import { copyRangeOf, copySourceOf } from './wire/copy-source.ts';
import { refuseUnserved, writtenObject } from './wire/object-headers.ts';

const FREE = { data: null };

export async function createUpload(call: S3Call): Promise<RawAnswer> {
  const { request, capability, headers } = call;
  refuseUnserved(headers);
  const target = objectOf(call);
  const checksum = uploadChecksum(headers);
  const about = aboutOf(writtenObject(headers));
  let uploadId = '';
  await request.perform(capability, async (ctx) => {
    uploadId = await beginUpload(ctx, { ...target, about, checksum });
    return FREE;
  });
  const named = { Bucket: target.bucket, Key: target.key.toString(), UploadId: uploadId };
  const answer = xmlAnswer(call, 'InitiateMultipartUploadResult', named);
  if (checksum === null) return answer;
  const { algorithm, type } = checksum;
  const told = { 'x-amz-checksum-algorithm': algorithm.toUpperCase(), 'x-amz-checksum-type': type };
  return { ...answer, headers: { ...answer.headers, ...told } };
}

export async function uploadPart(call: S3Call): Promise<RawAnswer> {
  const { request, capability, headers } = call;
  refuseUnserved(headers);
  const named = partNamed(call);
  const bytes = bodyBytes(call);
  const sent = sentChecksums(headers);
  let etag = '';
  let kept: StoredChecksums | null = null;
  await request.perform(capability, async (ctx) => {
    const { checksum } = await requireUpload(ctx.core.db, ctx.accountId, named);
    await requireWritable(ctx, named.bucket, bytes);
    const algorithms = [sent.algorithm, checksum?.algorithm ?? null].filter((each) => each !== null);
    return keepBytes(ctx, { source: request.stream, bytes, algorithms }, (blob) => {
      requireDigests(sent, blob);
      etag = blob.md5;
      kept = algorithms.length === 0 ? null : blob.checksums;
      return putPart(ctx, { uploadId: named.uploadId, partNumber: named.partNumber, blob, checksums: kept });
    });
  });
  return emptyAnswer(call, 200, { etag: `"${etag}"`, ...checksumsShown(kept, 'headers') });
}

/** Its bytes are read and written: a part is a blob of its own. */
export async function copyPart(call: S3Call): Promise<RawAnswer> {
  const { request, capability, headers } = call;
  refuseUnserved(headers);
  const named = partNamed(call);
  const { bucket, key } = copySourceOf(headers);
  let etag = '';
  let kept: StoredChecksums | null = null;
  await request.perform(capability, async (ctx) => {
    const { checksum } = await requireUpload(ctx.core.db, ctx.accountId, named);
    const { row, open } = await findObject(ctx, { bucket, key: Buffer.from(key) });
    requireSource(headers, row);
    const { start, end } = copyRangeOf(headers, Number(row.bytes)) ?? { start: 0, end: Number(row.bytes) - 1 };
    await requireWritable(ctx, named.bucket, end - start + 1);
    const algorithms = checksum === null ? [] : [checksum.algorithm];
    return keepBytes(ctx, { source: open(start, end), bytes: end - start + 1, algorithms }, (blob) => {
      etag = blob.md5;
      kept = checksum === null ? null : blob.checksums;
      return putPart(ctx, { uploadId: named.uploadId, partNumber: named.partNumber, blob, checksums: kept });
    });
  });
  const shown = checksumsShown(kept, 'elements');
  return xmlAnswer(call, 'CopyPartResult', { ETag: `"${etag}"`, LastModified: new Date().toISOString(), ...shown });
}

function partNamed(call: S3Call) {
  const { query } = call.address;
  const partNumber = partNumberOf(query.get('partNumber') ?? '');
  return { ...objectOf(call), uploadId: query.get('uploadId') ?? '', partNumber };
}

export async function completeUpload(call: S3Call): Promise<RawAnswer> {
  const { request, state, capability, address, headers } = call;
  const target = objectOf(call);
  const uploadId = address.query.get('uploadId') ?? '';
  let completed: Completed | undefined;
  await request.perform(capability, async (ctx) => {
    const conditions = writeConditionsOf(headers);
    // Within the call, so that its rate has been weighed by the bytes of the body, whatever is in them.
    const parts = await request.read(readComplete, request.body);
    completed = await complete(ctx, { uploadId, ...target, parts, conditions, checksums: wholeChecksum(headers) });
    if (completed.charged !== null) return completed.charged;
    // Told again what was told before, as long as the object stands.
    const { row } = await findObject(ctx, target, { mustBePaid: false });
    if (row.etag === completed.etag) completed = { ...completed, checksums: row.checksums };
    return FREE;
  });
  const { etag, checksums } = completed as Completed;
  const key = target.key.toString();
  return xmlAnswer(call, 'CompleteMultipartUploadResult', {
    Location: objectUrl(state, target.bucket, key),
    Bucket: target.bucket,
    Key: key,
    ETag: `"${etag}"`,
    ...checksumsShown(checksums as StoredChecksums | null, 'elements'),
  });
}

export async function abortUpload(call: S3Call): Promise<RawAnswer> {
  const { request, capability, address } = call;
  const uploadId = address.query.get('uploadId') ?? '';
  await request.perform(capability, async (ctx) => {
    await abort(ctx, { ...objectOf(call), uploadId });
    return FREE;
  });
  return emptyAnswer(call, 204);
}
