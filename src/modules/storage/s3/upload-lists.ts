// Lists of a bucket's unfinished uploads, and of the parts of one upload.

import type { RawAnswer } from '../../../kit/raw-route.ts';
import { behindPrefix } from '../../../objects/list.ts';
import { bucketMissing } from '../../../objects/object.ts';
import { bucketId, readBuckets } from '../../../objects/store.ts';
import { type PartRow, readParts, listUploads as readUploads, type UploadRow } from '../../../objects/upload-store.ts';
import { requireUpload } from '../../../objects/uploads.ts';
import { bucketOf, checksumsShown, objectOf, ownerOf, type S3Call, type StoredChecksums, xmlAnswer } from './call.ts';
import { instantOf, isEncodedIn, pageOf } from './listing.ts';
import type { S3Address } from './wire/operation.ts';
import { refusal } from './wire/refusals.ts';
import { urlEncoded, type XmlFields } from './wire/xml.ts';

const READ_AT_ONCE = 1_000;
/** Behind the ids of all uploads of a key. */
const BEHIND_IDS = '~';

interface UploadPage {
  readonly uploads: readonly UploadRow[];
  readonly prefixes: readonly Buffer[];
  readonly isTruncated: boolean;
}

export async function listUploads(call: S3Call): Promise<RawAnswer> {
  const { query } = call.address;
  const isEncoded = isEncodedIn(query);
  const encodeKey = (text: string) => (isEncoded ? urlEncoded(text) : text);
  const max = Math.max(1, pageOf(query, 'max-uploads'));
  let page: UploadPage = { uploads: [], prefixes: [], isTruncated: false };
  await call.request.perform(call.capability, async () => {
    page = await readPage(call, max);
    return { data: null };
  });
  return xmlAnswer(call, 'ListMultipartUploadsResult', {
    Bucket: bucketOf(call),
    KeyMarker: encodeKey(query.get('key-marker') ?? ''),
    UploadIdMarker: query.get('upload-id-marker') ?? '',
    ...nextOf(page, encodeKey),
    Prefix: encodeKey(query.get('prefix') ?? ''),
    Delimiter: encodeKey(query.get('delimiter') ?? ''),
    MaxUploads: max,
    IsTruncated: page.isTruncated,
    ...(isEncoded ? { EncodingType: 'url' } : {}),
    Upload: page.uploads.map((upload) => ({
      Key: encodeKey(upload.key.toString()),
      UploadId: upload.upload_id,
      Initiator: ownerOf(call),
      Owner: ownerOf(call),
      StorageClass: 'STANDARD',
      Initiated: instantOf(upload.created_at),
      ...algorithmOf(upload),
    })),
    CommonPrefixes: page.prefixes.map((prefix) => ({ Prefix: encodeKey(prefix.toString()) })),
  });
}

function nextOf({ uploads, prefixes, isTruncated }: UploadPage, written: (text: string) => string): XmlFields {
  const [upload, prefix] = [uploads.at(-1), prefixes.at(-1)];
  if (!isTruncated) return {};
  if (upload === undefined || (prefix !== undefined && prefix.compare(upload.key) > 0)) {
    return { NextKeyMarker: written(prefix?.toString() ?? '') };
  }
  return { NextKeyMarker: written(upload.key.toString()), NextUploadIdMarker: upload.upload_id };
}

function algorithmOf({ checksum }: UploadRow): XmlFields {
  return checksum === null ? {} : { ChecksumAlgorithm: checksum.algorithm.toUpperCase(), ChecksumType: checksum.type };
}

/** Throws BUCKET_NOT_FOUND. */
async function readPage(call: S3Call, max: number): Promise<UploadPage> {
  const { accountId, address, state } = call;
  const { db } = state.core;
  const bucket = bucketOf(call);
  const buckets = await readBuckets(db, [{ accountId, bucket }]);
  if (!buckets.has(bucketId({ accountId, bucket }))) throw bucketMissing();
  const [prefix, delimiter] = ['prefix', 'delimiter'].map((name) => Buffer.from(address.query.get(name) ?? ''));
  const grouping = { prefix: prefix as Buffer, delimiter: delimiter as Buffer };
  const end = behindPrefix(grouping.prefix);
  const uploads: UploadRow[] = [];
  const prefixes: Buffer[] = [];
  let group: Buffer | null = null;
  let from = startOf(address.query, grouping);
  for (;;) {
    const rows: readonly UploadRow[] = await readUploads(db, accountId, bucket, { ...from, end, limit: READ_AT_ONCE });
    for (const row of rows) {
      if (group !== null && isBelow(row.key, group)) continue;
      if (uploads.length + prefixes.length === max) return { uploads, prefixes, isTruncated: true };
      group = groupOf(row.key, grouping);
      if (group === null) uploads.push(row);
      else prefixes.push(group);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < READ_AT_ONCE) return { uploads, prefixes, isTruncated: false };
    from =
      group === null ? { afterKey: last.key, afterId: last.upload_id } : { afterKey: behindPrefix(group), afterId: '' };
  }
}

interface Grouping {
  readonly prefix: Buffer;
  readonly delimiter: Buffer;
}

/** The common prefix that a key is shown by; null: by itself. */
function groupOf(key: Buffer, { prefix, delimiter }: Grouping): Buffer | null {
  const at = delimiter.length === 0 ? -1 : key.indexOf(delimiter, prefix.length);
  return at === -1 ? null : key.subarray(0, at + delimiter.length);
}

const isBelow = (key: Buffer, group: Buffer): boolean => key.subarray(0, group.length).equals(group);

function startOf(query: S3Address['query'], grouping: Grouping): { afterKey: Buffer; afterId: string } {
  const marker = Buffer.from(query.get('key-marker') ?? '');
  if (marker.length === 0 || marker.compare(grouping.prefix) < 0) return { afterKey: grouping.prefix, afterId: '' };
  if (groupOf(marker, grouping)?.equals(marker)) return { afterKey: behindPrefix(marker), afterId: '' };
  return { afterKey: marker, afterId: query.get('upload-id-marker') || BEHIND_IDS };
}

export async function listParts(call: S3Call): Promise<RawAnswer> {
  const { address, accountId, state } = call;
  const { query } = address;
  const target = objectOf(call);
  const uploadId = query.get('uploadId') ?? '';
  const max = pageOf(query, 'max-parts');
  const after = markerOf(query);
  let upload: UploadRow | undefined;
  let rows: readonly PartRow[] = [];
  await call.request.perform(call.capability, async () => {
    upload = await requireUpload(state.core.db, accountId, { uploadId, ...target });
    rows = await readParts(state.core.db, accountId, uploadId, { after, limit: max + 1 });
    return { data: null };
  });
  const shown = rows.slice(0, max);
  const isEncoded = isEncodedIn(query);
  return xmlAnswer(call, 'ListPartsResult', {
    Bucket: target.bucket,
    Key: isEncoded ? urlEncoded(target.key.toString()) : target.key.toString(),
    UploadId: uploadId,
    Initiator: ownerOf(call),
    Owner: ownerOf(call),
    StorageClass: 'STANDARD',
    PartNumberMarker: after,
    NextPartNumberMarker: shown.at(-1)?.part_number ?? after,
    MaxParts: max,
    IsTruncated: rows.length > max,
    ...(upload === undefined ? {} : algorithmOf(upload)),
    Part: shown.map((part) => ({
      PartNumber: part.part_number,
      LastModified: instantOf(part.updated_at),
      ETag: `"${part.etag}"`,
      Size: Number(part.bytes),
      ...checksumsShown(part.checksums as StoredChecksums | null, 'elements'),
    })),
  });
}

function markerOf(query: S3Address['query']): number {
  const sent = query.get('part-number-marker') ?? '';
  if (/^\d{0,5}$/.test(sent)) return Number(sent);
  throw refusal('InvalidArgument', 'part-number-marker is the number of a part.');
}
