// Headers of an object write: stored response headers, user metadata and tags. A header that asks for an unsupported feature is refused, not
// ignored. Requests signed in the query may carry their x-amz- headers there.
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { type KeptHeaders, METADATA_HEADER, type ObjectRow } from '../../../../objects/object.ts';
import type { S3Address } from './operation.ts';
import { noAcl, notImplemented, refusal } from './refusals.ts';

const METADATA_BYTES_MAX = 2 * 1_024;
/** Type and kept headers together: who reads the object gets them back, and clients take some 16 KiB of headers. */
const HEADERS_BYTES_MAX = 8 * 1_024;
const DEFAULT_TYPE = 'application/octet-stream';
const TAGS_MAX = 10;
const TAG_KEY_CHARACTERS_MAX = 128;
const TAG_VALUE_CHARACTERS_MAX = 256;
/** But a tab, which a header may hold. Fields of forms, and tags, may bring any. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for them
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/;
const ASCII = /^[\x20-\x7e]*$/;

type KeptName = Exclude<keyof KeptHeaders, 'latin1'>;

/** Headers that are kept, by the names that they are kept under. */
const KEPT: Readonly<Record<KeptName, string>> = {
  cache_control: 'cache-control',
  content_disposition: 'content-disposition',
  content_encoding: 'content-encoding',
  content_language: 'content-language',
  expires: 'expires',
};

export interface WrittenObject {
  readonly contentType: string;
  readonly headers: KeptHeaders;
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * Headers that ask for what is not served. Some values of these ask for nothing: every class is kept, and told, as STANDARD, and AES256 is the
 * operator's disk.
 */
const HARMLESS: Readonly<Record<string, readonly string[]>> = {
  'x-amz-acl': ['private', 'bucket-owner-full-control', 'bucket-owner-read'],
  'x-amz-server-side-encryption': ['AES256'],
  'x-amz-storage-class': [
    ...['STANDARD', 'REDUCED_REDUNDANCY', 'STANDARD_IA', 'ONEZONE_IA', 'INTELLIGENT_TIERING', 'GLACIER', 'GLACIER_IR'],
    ...['DEEP_ARCHIVE', 'EXPRESS_ONEZONE', 'OUTPOSTS', 'SNOW'],
  ],
};
const REFUSED_HEADERS = [
  /^x-amz-grant-/,
  /^x-amz-(copy-source-)?server-side-encryption/,
  /^x-amz-object-lock-/,
  /^x-amz-bucket-object-lock-enabled$/,
  /^x-amz-website-redirect-location$/,
  /^x-amz-write-offset-bytes$/,
];

/**
 * The headers of a request, with those of its query where it is signed there. A checksum in the query is not taken: the JavaScript presigner
 * puts that of an empty body there.
 */
export function headersOf(headers: IncomingHttpHeaders, { query }: S3Address): IncomingHttpHeaders {
  if (!query.has('X-Amz-Signature')) return headers;
  const hoisted = [...query]
    // As Node reads them from a head: bytes of UTF-8 as Latin-1.
    .map(([name, value]) => [name.toLowerCase(), Buffer.from(value).toString('latin1')] as const)
    .filter(([name]) => name.startsWith('x-amz-') && !/^x-amz-(checksum-|sdk-|content-sha256$)/.test(name));
  return { ...Object.fromEntries(hoisted), ...headers };
}

/** Throws NotImplemented, AccessControlListNotSupported, InvalidStorageClass for a header that asks for what is not served. */
export function refuseUnserved(headers: IncomingHttpHeaders): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith('x-amz-')) continue;
    const harmless = HARMLESS[name];
    if (harmless?.includes(String(value)) === true) continue;
    if (REFUSED_HEADERS.some((each) => each.test(name)) && String(value).toLowerCase() !== 'false') {
      throw notImplemented(`The header ${name}`);
    }
    if (harmless === undefined) continue;
    if (name === 'x-amz-acl') throw noAcl();
    throw refusal('InvalidStorageClass', 'There is no such storage class.');
  }
}

/** Throws MetadataTooLarge, InvalidTag, InvalidArgument. */
export function writtenObject(headers: IncomingHttpHeaders): WrittenObject {
  requireSendable(headers);
  return {
    contentType: receivedText(headers['content-type'] ?? '') || DEFAULT_TYPE,
    headers: keptHeaders(headers),
    metadata: metadataOf(headers),
    tags: tagsOfHeader(headers['x-amz-tagging'] as string | undefined),
  };
}

function requireSendable(headers: IncomingHttpHeaders): void {
  let bytes = 0;
  for (const name of ['content-type', ...Object.values(KEPT)]) {
    const value = String(headers[name] ?? '');
    bytes += value.length;
    if (CONTROL.test(value))
      throw refusal('InvalidArgument', `The value of ${name} has characters that a header may not have.`);
  }
  if (bytes <= HEADERS_BYTES_MAX) return;
  throw refusal('MetadataTooLarge', `Content-Type and the like have at most ${HEADERS_BYTES_MAX} bytes together.`);
}

function keptHeaders(headers: IncomingHttpHeaders): KeptHeaders {
  const kept = Object.entries(KEPT).map(([name, header]) => {
    const value = receivedText(String(headers[header] ?? ''));
    return [name, header === 'content-encoding' ? withoutChunks(value) : value] as const;
  });
  const latin1 = namesInLatin1(headers);
  return {
    ...Object.fromEntries(kept.filter(([, value]) => value !== '')),
    ...(latin1.length === 0 ? {} : { latin1 }),
  };
}

function namesInLatin1(headers: IncomingHttpHeaders): string[] {
  const isKept = (name: string) =>
    name.startsWith(METADATA_HEADER) || name === 'content-type' || Object.values(KEPT).includes(name);
  return Object.keys(headers).filter((name) => isKept(name) && textIn(String(headers[name])).isLatin1);
}

/** `aws-chunked` says how the body is sent, not what it is. */
function withoutChunks(encoding: string): string {
  const names = encoding.split(',').map((each) => each.trim());
  return names.filter((each) => each !== '' && each.toLowerCase() !== 'aws-chunked').join(', ');
}

function metadataOf(headers: IncomingHttpHeaders): Record<string, string> {
  const pairs = Object.entries(headers)
    .filter(([name]) => name.startsWith(METADATA_HEADER))
    .map(([name, value]) => [name.slice(METADATA_HEADER.length), receivedText(String(value))] as const);
  const bytes = pairs.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0);
  if (bytes > METADATA_BYTES_MAX) {
    throw refusal('MetadataTooLarge', `Metadata has at most ${METADATA_BYTES_MAX} bytes, names and values together.`);
  }
  return Object.fromEntries(pairs);
}

/** `a=1&b=2`, encoded as a form. Throws InvalidTag, InvalidArgument. */
export function tagsOfHeader(header: string | undefined): Record<string, string> {
  if (header === undefined || header === '') return {};
  return checkedTags([...new URLSearchParams(header)]);
}

/** Throws InvalidTag. */
export function checkedTags(pairs: readonly (readonly [string, string])[]): Record<string, string> {
  if (pairs.length > TAGS_MAX) throw refusal('InvalidTag', `An object has at most ${TAGS_MAX} tags.`);
  for (const [key, value] of pairs) {
    if (key === '' || key.length > TAG_KEY_CHARACTERS_MAX) {
      throw refusal('InvalidTag', `The key of a tag has 1 to ${TAG_KEY_CHARACTERS_MAX} characters.`);
    }
    if (CONTROL.test(key) || CONTROL.test(value)) throw refusal('InvalidTag', 'A tag has no control characters.');
    if (value.length > TAG_VALUE_CHARACTERS_MAX) {
      throw refusal('InvalidTag', `The value of a tag has at most ${TAG_VALUE_CHARACTERS_MAX} characters.`);
    }
  }
  if (new Set(pairs.map(([key]) => key)).size < pairs.length) {
    throw refusal('InvalidTag', 'A key stands among the tags twice.');
  }
  return Object.fromEntries(pairs);
}

/** What an object is answered with, and `response-` of the query in place of what it has. Throws InvalidArgument. */
export function answeredHeaders(
  object: Pick<ObjectRow, 'content_type' | 'headers' | 'metadata'>,
  { query }: Pick<S3Address, 'query'>,
): Record<string, string> {
  const latin1 = new Set(object.headers?.latin1);
  const answered: Record<string, string> = {};
  const answer = (header: string, value: string) => {
    answered[header] = sendable(value, latin1.has(header));
  };
  answer('content-type', object.content_type);
  for (const [name, header] of Object.entries(KEPT)) {
    const value = object.headers?.[name as KeptName];
    if (value !== undefined) answer(header, value);
  }
  for (const header of ['content-type', ...Object.values(KEPT)]) {
    const value = query.get(`response-${header}`);
    if (value === undefined) continue;
    if (!isOneLine(value))
      throw refusal('InvalidArgument', `response-${header} has characters that no header may have.`);
    answered[header] = sendable(value);
  }
  for (const [name, value] of Object.entries(object.metadata ?? {})) {
    // What was written natively may have a name that no header has.
    if (/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name)) answer(METADATA_HEADER + name, value);
  }
  return answered;
}

/** Clients send UTF-8, some send Latin-1; Node reads the bytes of a header as Latin-1. */
function textIn(value: string): { readonly text: string; readonly isLatin1: boolean } {
  if (ASCII.test(value)) return { text: value, isLatin1: false };
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? { text: bytes.toString('utf8'), isLatin1: false } : { text: value, isLatin1: true };
}

const receivedText = (value: string) => textIn(value).text;

function isOneLine(value: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no header may have them
  return !/[\u0000-\u0008\u000a-\u001f\u007f]/.test(value);
}

/** In the bytes that it came in, UTF-8 or Latin-1; with control characters as an encoded word (RFC 2047), as Amazon answers it. */
function sendable(value: string, isLatin1 = false): string {
  if (ASCII.test(value)) return value;
  const bytes = Buffer.from(value);
  if (!isOneLine(value)) return `=?UTF-8?B?${bytes.toString('base64')}?=`;
  return isLatin1 ? value : bytes.toString('latin1');
}
