// Source of a copy: bucket and key from x-amz-copy-source, byte range from x-amz-copy-source-range.
import type { IncomingHttpHeaders } from 'node:http';
import { addressOf } from './operation.ts';
import { refusal } from './refusals.ts';

export interface CopySource {
  readonly bucket: string;
  readonly key: string;
}

/** `/bucket/key` or `bucket/key`, percent-encoded. Throws InvalidArgument, InvalidURI, KeyTooLongError. */
export function copySourceOf(headers: IncomingHttpHeaders): CopySource {
  const sent = String(headers['x-amz-copy-source']).replace(/^\//, '');
  const { bucket, key, query } = addressOf(`/s3/${sent}`);
  const version = query.get('versionId');
  if (version !== undefined && version !== 'null') throw refusal('InvalidArgument', 'Objects have no versions here.');
  if (bucket === null || key === null) {
    throw refusal('InvalidArgument', 'x-amz-copy-source is the bucket, a slash, and the key, percent-encoded.');
  }
  return { bucket, key };
}

/** First and last byte, both included; null: all. Throws InvalidArgument, InvalidRange. */
export function copyRangeOf(headers: IncomingHttpHeaders, bytes: number): { start: number; end: number } | null {
  const sent = headers['x-amz-copy-source-range'];
  if (sent === undefined) return null;
  const [, first, last] = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(String(sent)) ?? [];
  const [start, end] = [Number(first), Number(last)];
  if (first === undefined || end < start) {
    throw refusal('InvalidArgument', 'x-amz-copy-source-range is `bytes=first-last`, both included.');
  }
  if (end >= bytes) throw refusal('InvalidRange', `The source of the copy has ${bytes} bytes.`);
  return { start, end };
}
