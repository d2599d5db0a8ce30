// List parameters and list answers in XML: for objects (both versions), uploads and parts. `encoding-type=url` is for keys that XML cannot hold.

import type { S3Address } from './wire/operation.ts';
import { refusal } from './wire/refusals.ts';
import { urlEncoded, type XmlFields } from './wire/xml.ts';

const PAGE_MAX = 1_000;

export interface ListAsked {
  readonly prefix: string;
  /** Empty: none. */
  readonly delimiter: string;
  /** The list begins behind it; empty: at the beginning. */
  readonly after: string;
  readonly max: number;
  readonly isEncoded: boolean;
}

export interface ListedObject {
  readonly key: string;
  readonly bytes: number;
  readonly etag: string;
  readonly updatedMs: number;
  readonly checksums: Readonly<Record<string, string>>;
}

export interface ListedPage {
  readonly objects: readonly ListedObject[];
  /** With their delimiter at the end. */
  readonly prefixes: readonly string[];
  /** The last key or prefix of the page, where more follow; null: none do. */
  readonly next: string | null;
}

type Query = S3Address['query'];

/** Throws InvalidArgument. */
export function listAsked(query: Query, isSecond: boolean): ListAsked {
  return {
    prefix: query.get('prefix') ?? '',
    delimiter: query.get('delimiter') ?? '',
    after: isSecond ? tokenOrStart(query) : (query.get('marker') ?? ''),
    max: pageOf(query, 'max-keys'),
    isEncoded: isEncodedIn(query),
  };
}

/** As many as one page has at most. Throws InvalidArgument. */
export function pageOf(query: Query, name: string): number {
  const sent = query.get(name);
  if (sent === undefined || sent === '') return PAGE_MAX;
  if (!/^\d{1,10}$/.test(sent)) throw refusal('InvalidArgument', `${name} is a whole number from 0.`);
  return Math.min(Number(sent), PAGE_MAX);
}

/** Throws InvalidArgument. */
export function isEncodedIn(query: Query): boolean {
  const sent = query.get('encoding-type');
  if (sent === undefined || sent === '') return false;
  if (sent.toLowerCase() === 'url') return true;
  throw refusal('InvalidArgument', 'encoding-type is url.');
}

/** The token is the key behind which the next page begins, so that clients take it for no key. */
function tokenOrStart(query: Query): string {
  const token = query.get('continuation-token');
  // An empty one is none, as Amazon takes it.
  return token === undefined || token === '' ? (query.get('start-after') ?? '') : nameIn(token);
}

/** What a continuation token of a list names. Throws InvalidArgument. */
export function nameIn(token: string): string {
  const name = Buffer.from(token, 'base64url').toString('utf8');
  if (token !== '' && tokenOf(name) === token) return name;
  throw refusal('InvalidArgument', 'The continuation token is not one of this list.');
}

export function tokenOf(name: string): string {
  return Buffer.from(name).toString('base64url');
}

/** Parameters of ListObjectVersions: the version of a marker is `null`, and behind it comes the next key. Throws InvalidArgument. */
export function versionsAsked(query: Query): ListAsked {
  return { ...listAsked(query, false), after: query.get('key-marker') ?? '' };
}

/** The answer to ListObjectVersions: each object is its only version. */
export function versionsFields(bucket: string, query: Query, page: ListedPage, owner: XmlFields): XmlFields {
  const { prefix, delimiter, max, isEncoded, after } = versionsAsked(query);
  const encodeKey = (text: string) => (isEncoded ? urlEncoded(text) : text);
  const { objects, prefixes, next } = page;
  return {
    Name: bucket,
    Prefix: encodeKey(prefix),
    KeyMarker: encodeKey(after),
    VersionIdMarker: query.get('version-id-marker') ?? '',
    ...(next === null ? {} : { NextKeyMarker: encodeKey(next), NextVersionIdMarker: 'null' }),
    MaxKeys: max,
    ...(delimiter === '' ? {} : { Delimiter: encodeKey(delimiter) }),
    ...(isEncoded ? { EncodingType: 'url' } : {}),
    IsTruncated: next !== null,
    Version: objects.map(({ key, bytes, etag, updatedMs, checksums }) => ({
      Key: encodeKey(key),
      VersionId: 'null',
      IsLatest: true,
      LastModified: instantOf(updatedMs),
      ETag: `"${etag}"`,
      ...checksumFields(checksums),
      Size: bytes,
      StorageClass: 'STANDARD',
      Owner: owner,
    })),
    CommonPrefixes: prefixes.map((each) => ({ Prefix: encodeKey(each) })),
  };
}

/** The answer to ListObjects, of either version. `owner`: told of each object. */
export function listFields(bucket: string, query: Query, page: ListedPage, owner: XmlFields): XmlFields {
  const isSecond = query.get('list-type') === '2';
  const { prefix, delimiter, max, isEncoded } = listAsked(query, isSecond);
  const encodeKey = (text: string) => (isEncoded ? urlEncoded(text) : text);
  const { objects, prefixes, next } = page;
  const withOwner = !isSecond || query.get('fetch-owner') === 'true';
  return {
    Name: bucket,
    Prefix: encodeKey(prefix),
    ...(isSecond ? secondFields(query, page, encodeKey) : firstFields(query, page, delimiter, encodeKey)),
    MaxKeys: max,
    ...(delimiter === '' ? {} : { Delimiter: encodeKey(delimiter) }),
    ...(isEncoded ? { EncodingType: 'url' } : {}),
    IsTruncated: next !== null,
    Contents: objects.map((object) => ({
      Key: encodeKey(object.key),
      LastModified: instantOf(object.updatedMs),
      ETag: `"${object.etag}"`,
      ...checksumFields(object.checksums),
      Size: object.bytes,
      StorageClass: 'STANDARD',
      ...(withOwner ? { Owner: owner } : {}),
    })),
    CommonPrefixes: prefixes.map((each) => ({ Prefix: encodeKey(each) })),
  };
}

function firstFields(
  query: Query,
  { next }: ListedPage,
  delimiter: string,
  written: (text: string) => string,
): XmlFields {
  // Without a delimiter clients take the last key.
  const nextMarker = next !== null && delimiter !== '' ? { NextMarker: written(next) } : {};
  return { Marker: written(query.get('marker') ?? ''), ...nextMarker };
}

function secondFields(
  query: Query,
  { next, objects, prefixes }: ListedPage,
  written: (text: string) => string,
): XmlFields {
  const start = query.get('start-after');
  return {
    KeyCount: objects.length + prefixes.length,
    ...(start === undefined ? {} : { StartAfter: written(start) }),
    ...(query.has('continuation-token') ? { ContinuationToken: query.get('continuation-token') as string } : {}),
    ...(next === null ? {} : { NextContinuationToken: tokenOf(next) }),
  };
}

/** Which algorithms a stored object or part has, and of which kind they are. */
export function checksumFields(checksums: Readonly<Record<string, string>>): XmlFields {
  const { type, ...values } = checksums;
  const names = Object.keys(values);
  if (names.length === 0) return {};
  return {
    ChecksumAlgorithm: names.map((name) => name.toUpperCase()),
    ...(type === undefined ? {} : { ChecksumType: type }),
  };
}

/** As S3 has instants: to the millisecond, in UTC. */
export function instantOf(ms: number): string {
  return new Date(ms).toISOString();
}
