// Reads of one part of an object (`partNumber`), for clients that read an object in the parts of its upload.

import type { Queryable } from '../../../db/database.ts';
import type { RawAnswer } from '../../../kit/raw-route.ts';
import { readPartChecksums } from '../../../objects/part-checksums.ts';
import type { FoundObject } from '../../../objects/read.ts';
import { checksumsShown, type S3Call, type StoredChecksums } from './call.ts';
import { partNumberOf } from './wire/bodies.ts';
import { notImplemented, refusal } from './wire/refusals.ts';
import type { XmlFields } from './wire/xml.ts';

export interface AskedPart {
  readonly start: number;
  /** The last byte, included. */
  readonly end: number;
  readonly count: number;
  readonly number: number;
}

/** Null: the whole is asked for, or is one part. Throws InvalidArgument, InvalidPart, InvalidRequest. */
export function partAsked({ address, headers }: S3Call, { row, pieceBytes }: FoundObject): AskedPart | null {
  const asked = address.query.get('partNumber');
  if (asked === undefined) return null;
  if (headers.range !== undefined) throw refusal('InvalidRequest', 'Ask for a range or for a part, not for both.');
  const number = partNumberOf(asked);
  const count = Number(row.etag.split('-')[1] ?? 1);
  if (number > count) throw refusal('InvalidPart', `The object has ${count} parts.`);
  if (!row.etag.includes('-')) return null;
  // A part beyond 2 GiB is kept in several pieces: then it is not known which are whose.
  if (pieceBytes.length !== count) throw notImplemented('A read of one part of an object with parts beyond 2 GiB');
  const start = pieceBytes.slice(0, number - 1).reduce((sum, bytes) => sum + bytes, 0);
  return { start, end: start + (pieceBytes[number - 1] ?? 0) - 1, count, number };
}

/** Of a part, with the type that the whole has; null: the object has none. */
export async function checksumsOfPart(
  db: Queryable,
  { row }: FoundObject,
  { number }: AskedPart,
): Promise<StoredChecksums | null> {
  if (row.checksums === null) return null;
  const [checksums] = await readPartChecksums(db, row, { before: number - 1, count: 1 });
  return { ...checksums, type: row.checksums.type };
}

/** `headers`: of the object. */
export function partAnswer(
  { request: { method } }: S3Call,
  { row, open }: FoundObject,
  { start, end, count }: AskedPart,
  headers: Readonly<Record<string, string>>,
): RawAnswer {
  const described = {
    ...headers,
    'accept-ranges': 'bytes',
    etag: `"${row.etag}"`,
    'last-modified': new Date(row.updated_at).toUTCString(),
    'content-range': `bytes ${start}-${end}/${row.bytes}`,
    'content-length': String(end - start + 1),
    'x-amz-mp-parts-count': String(count),
  };
  return { status: 206, headers: described, body: method === 'HEAD' || end < start ? '' : open(start, end) };
}

const PARTS_SHOWN_MAX = 1_000;

/** A page of the parts of an object, each with its length and checksum. Throws InvalidArgument. */
export async function partsShown(
  db: Queryable,
  { headers }: S3Call,
  { row, pieceBytes }: FoundObject,
): Promise<XmlFields> {
  const count = Number(row.etag.split('-')[1]);
  const marker = wholeOf(headers, 'x-amz-part-number-marker', 0);
  const max = Math.min(PARTS_SHOWN_MAX, wholeOf(headers, 'x-amz-max-parts', PARTS_SHOWN_MAX));
  // A part beyond 2 GiB is kept in several pieces: then it is not known which are whose.
  if (pieceBytes.length !== count) return { PartsCount: count };
  const shown = pieceBytes.slice(marker, marker + max);
  const last = marker + shown.length;
  const checksums = await readPartChecksums(db, row, { before: marker, count: shown.length });
  return {
    PartsCount: count,
    PartNumberMarker: marker,
    NextPartNumberMarker: last,
    MaxParts: max,
    IsTruncated: last < count,
    Part: shown.map((bytes, i) => ({
      PartNumber: marker + i + 1,
      Size: bytes,
      ...checksumsShown((checksums[i] ?? null) as StoredChecksums | null, 'elements'),
    })),
  };
}

function wholeOf(headers: S3Call['headers'], name: string, usual: number): number {
  const sent = headers[name];
  if (sent === undefined) return usual;
  if (/^\d{1,5}$/.test(String(sent))) return Number(sent);
  throw refusal('InvalidArgument', `${name} is a whole number from 0.`);
}
