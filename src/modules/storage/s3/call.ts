// An S3 request as its operation gets it (address, headers, capability), and helpers for short bodies and answers.

import type { RawAnswer, RawRequest } from '../../../kit/raw-route.ts';
import { keyBytes } from '../../../objects/object.ts';
import type { ObjectRef } from '../../../objects/store.ts';
import type { StorageState } from '../state.ts';
import { checksumElement, checksumHeader } from './wire/checksums.ts';
import type { S3Address } from './wire/operation.ts';
import { refusal } from './wire/refusals.ts';
import { urlEncoded, type XmlFields, xmlDocument } from './wire/xml.ts';

export interface S3Call {
  readonly request: RawRequest;
  readonly state: StorageState;
  readonly accountId: string;
  readonly address: S3Address;
  /** With those of a signed query. */
  readonly headers: RawRequest['headers'];
  /** What the call is one of, natively. */
  readonly capability: string;
}

export type S3Operation = (call: S3Call) => Promise<RawAnswer>;

const SHORT_BODY_BYTES_MAX = 64 * 1_024;

export function bucketOf({ address: { bucket } }: S3Call): string {
  if (bucket === null) throw new Error('an operation of a bucket was found for an address without one');
  return bucket;
}

/** Throws VALIDATION_FAILED for a key that is too long. */
export function objectOf(call: S3Call): Omit<ObjectRef, 'accountId'> {
  return { bucket: bucketOf(call), key: keyBytes(call.address.key ?? '') };
}

/** The address of an object below BASE_URL, at whichever address of S3 it was written: a Host header is not repeated. */
export function objectUrl({ core }: StorageState, bucket: string, key: string): string {
  return `${core.baseUrl}/s3/${bucket}/${urlEncoded(key)}`;
}

/** A body in XML that is never long; what it may have is bounded again where it is read. Throws MalformedXML. */
export async function shortBody({ request: { stream } }: S3Call): Promise<Buffer> {
  const blocks: Buffer[] = [];
  let bytes = 0;
  for await (const block of stream as AsyncIterable<Buffer>) {
    bytes += block.length;
    if (bytes > SHORT_BODY_BYTES_MAX) throw refusal('MalformedXML', `The body may have ${SHORT_BODY_BYTES_MAX} bytes.`);
    blocks.push(block);
  }
  return Buffer.concat(blocks);
}

/** Bytes of the body without the chunks that it may be sent in. Throws MissingContentLength. */
export function bodyBytes({ request: { headers } }: S3Call): number {
  const sent = headers['x-amz-decoded-content-length'] ?? headers['content-length'];
  if (sent === undefined) throw refusal('MissingContentLength', 'Say how long the body is: send Content-Length.');
  return Number(sent);
}

export function xmlAnswer(call: S3Call, root: string, content: XmlFields | string): RawAnswer {
  const headers = { 'content-type': 'application/xml', 'cache-control': 'no-store', ...idHeader(call) };
  return { status: 200, headers, body: xmlDocument(root, content) };
}

export function emptyAnswer(call: S3Call, status: number, headers: Readonly<Record<string, string>> = {}): RawAnswer {
  return { status, headers: { ...headers, ...idHeader(call) }, body: '' };
}

export function idHeader({ request }: Pick<S3Call, 'request'>): Record<string, string> {
  return { 'x-amz-request-id': request.requestId };
}

export type StoredChecksums = Readonly<Record<string, string | undefined>>;

/** Of a stored object or part: by the names of headers, or of elements. */
export function checksumsShown(checksums: StoredChecksums | null, as: 'headers' | 'elements'): Record<string, string> {
  const nameOf = as === 'headers' ? checksumHeader : checksumElement;
  const pairs = Object.entries(checksums ?? {}).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return Object.fromEntries(pairs.map(([name, value]) => [nameOf(name), value]));
}

export function ownerOf({ accountId }: S3Call): XmlFields {
  return { ID: accountId, DisplayName: accountId };
}
