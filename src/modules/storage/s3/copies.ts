// S3 object copies. A copy does not copy bytes; they are read only if the client asks for a checksum that is not stored.

import { type ChecksumName, checksumOf } from '../../../core/credentials/aws-checksums.ts';
import type { RawAnswer } from '../../../kit/raw-route.ts';
import type { CallContext } from '../../../kit/services.ts';
import { PUT_BYTES_MAX } from '../../../objects/limits.ts';
import type { Checksums } from '../../../objects/object.ts';
import { putObject } from '../../../objects/put.ts';
import { type FoundObject, findObject } from '../../../objects/read.ts';
import { checksumsShown, objectOf, type S3Call, type StoredChecksums, xmlAnswer } from './call.ts';
import { aboutOf, storedObject } from './objects.ts';
import { algorithmAsked } from './wire/checksums.ts';
import { requireSource, sourceConditionsOf, writeConditionsOf } from './wire/conditions.ts';
import { copySourceOf } from './wire/copy-source.ts';
import { refuseUnserved, writtenObject } from './wire/object-headers.ts';
import { refusal } from './wire/refusals.ts';

export async function copyObject(call: S3Call): Promise<RawAnswer> {
  const { request, capability, headers } = call;
  refuseUnserved(headers);
  const target = objectOf(call);
  const source = copySourceOf(headers);
  const from = { bucket: source.bucket, key: Buffer.from(source.key) };
  const replaces = isReplaced(headers['x-amz-metadata-directive'], 'x-amz-metadata-directive');
  const replacesTags = isReplaced(headers['x-amz-tagging-directive'], 'x-amz-tagging-directive');
  const algorithm = algorithmAsked(headers);
  const isSame = from.bucket === target.bucket && from.key.equals(target.key);
  if (isSame && !replaces && !replacesTags && algorithm === null) {
    throw refusal(
      'InvalidRequest',
      'A copy of an object to itself must replace its metadata, its tags or its checksum.',
    );
  }
  const sent = aboutOf(writtenObject(headers));
  let checksums: StoredChecksums | null = null;
  const { data } = await request.perform(capability, async (ctx) => {
    const found = await findObject(ctx, from);
    const { row } = found;
    // Before its bytes are read; the commit judges again.
    requireSource(headers, row);
    const checked = algorithm === null ? null : await checkedBy(ctx, found, algorithm);
    checksums = (checked?.checksums ?? row.checksums) as StoredChecksums | null;
    const kept = { contentType: row.content_type, headers: row.headers, metadata: row.metadata };
    const about = { ...sent, ...(replaces ? {} : kept), ...(replacesTags ? {} : { tags: row.tags }) };
    return putObject(ctx, {
      ...target,
      conditions: writeConditionsOf(headers),
      about,
      content: {
        kind: 'copy',
        ...from,
        conditions: sourceConditionsOf(headers),
        checked,
        replaces: replaces || replacesTags ? 'all' : 'nothing',
      },
    });
  });
  const { etag, updated_at: changed } = storedObject(data);
  const shown = checksumsShown(checksums, 'elements');
  return xmlAnswer(call, 'CopyObjectResult', { ETag: `"${etag}"`, LastModified: changed, ...shown });
}

function isReplaced(directive: string | string[] | undefined, name: string): boolean {
  if (directive === undefined || directive === 'COPY') return false;
  if (directive === 'REPLACE') return true;
  throw refusal('InvalidArgument', `${name} is COPY or REPLACE.`);
}

/** Throws InvalidRequest for a source whose bytes are more than one write may have. */
async function checkedBy(
  { signal }: CallContext,
  { row, open }: FoundObject,
  algorithm: ChecksumName,
): Promise<{ readonly blobId: string; readonly checksums: Checksums }> {
  const { blob_id: blobId, bytes, checksums } = row;
  const known = checksums?.type === 'FULL_OBJECT' ? checksums[algorithm] : undefined;
  if (known !== undefined) return { blobId, checksums: { [algorithm]: known, type: 'FULL_OBJECT' } };
  if (bytes > BigInt(PUT_BYTES_MAX)) {
    throw refusal('InvalidRequest', `A copy with a new checksum may have at most ${PUT_BYTES_MAX} bytes.`);
  }
  const sum = checksumOf(algorithm);
  if (bytes > 0n) {
    for await (const block of open(0, Number(bytes) - 1)) {
      signal.throwIfAborted();
      sum.update(block);
    }
  }
  return { blobId, checksums: { [algorithm]: sum.digest(), type: 'FULL_OBJECT' } };
}
