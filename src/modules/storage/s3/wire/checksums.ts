// Checksums that a request sends or asks for: Content-MD5, or one of x-amz-checksum-* in a header, behind the body, or over a whole multipart
// upload (docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html).
import type { IncomingHttpHeaders } from 'node:http';
import { CHECKSUM_BYTES, type ChecksumName, isChecksumName } from '../../../../core/credentials/aws-checksums.ts';
import { refusal } from './refusals.ts';

export type ChecksumType = 'COMPOSITE' | 'FULL_OBJECT';

export interface SentChecksums {
  /** Hexadecimal; null: none. */
  readonly md5: string | null;
  /** Which one is kept; null: none is asked for. */
  readonly algorithm: ChecksumName | null;
  /** In base64 what the body must have; null: it stands behind the body, where it was compared already. */
  readonly value: string | null;
}

/** Base64 by algorithm; of parts with their number behind it. */
export type SaidChecksums = Partial<Record<ChecksumName, string>> & { readonly type?: ChecksumType };

export interface UploadChecksum {
  readonly algorithm: ChecksumName;
  readonly type: ChecksumType;
}

const PREFIX = 'x-amz-checksum-';
const COMPOSITE_ONLY: ReadonlySet<ChecksumName> = new Set(['sha1', 'sha256']);
const FULL_ONLY: ReadonlySet<ChecksumName> = new Set(['crc64nvme']);

/** Throws InvalidDigest, InvalidRequest, BadDigest. */
export function sentChecksums(headers: IncomingHttpHeaders): SentChecksums {
  const sent = namedIn(Object.keys(headers));
  if (sent.length > 1) throw refusal('InvalidRequest', 'Send one x-amz-checksum- header, not several.');
  const [inHeader] = sent;
  const asked = algorithmAsked(headers);
  const trailer = String(headers['x-amz-trailer'] ?? '').trim();
  const [behind] = namedIn(trailer === '' ? [] : [trailer.toLowerCase()]);
  const algorithm = inHeader ?? behind ?? asked;
  return {
    md5: md5Of(headers['content-md5'] as string | undefined),
    algorithm,
    value: inHeader === undefined ? null : valueIn(headers, inHeader),
  };
}

function valueIn(headers: IncomingHttpHeaders, name: ChecksumName): string {
  const value = String(headers[PREFIX + name]);
  const isOfSdk = String(headers['x-amz-sdk-checksum-algorithm']).toLowerCase() === name;
  // Where the algorithm is named too, a value that is none of it has a name of its own (API_PutObject, ChecksumAlgorithm).
  if (isOfSdk && !isValue(name, value)) throw refusal('BadDigest', `The value of ${PREFIX}${name} is no ${name}.`);
  return checkedValue(name, value);
}

/** What a multipart upload is begun with; null: no checksum is kept. Throws InvalidRequest. */
export function uploadChecksum(headers: IncomingHttpHeaders): UploadChecksum | null {
  const algorithm = algorithmAsked(headers);
  const type = typeOf(headers);
  if (algorithm === null) {
    if (type !== null) throw refusal('InvalidRequest', 'x-amz-checksum-type needs x-amz-checksum-algorithm.');
    return null;
  }
  const usual = FULL_ONLY.has(algorithm) ? 'FULL_OBJECT' : 'COMPOSITE';
  const chosen = type ?? usual;
  const isKnown = chosen === 'COMPOSITE' ? !FULL_ONLY.has(algorithm) : !COMPOSITE_ONLY.has(algorithm);
  if (!isKnown) throw refusal('InvalidRequest', `A ${algorithm} of a multipart upload cannot be ${chosen}.`);
  return { algorithm, type: chosen };
}

/** Of the whole object, as a request to complete an upload says it; null: it says nothing. Throws InvalidRequest. */
export function wholeChecksum(headers: IncomingHttpHeaders): SaidChecksums | null {
  const [name] = namedIn(Object.keys(headers));
  if (name === undefined) return null;
  const type = typeOf(headers);
  return { [name]: String(headers[PREFIX + name]), ...(type === null ? {} : { type }) };
}

function namedIn(headers: readonly string[]): ChecksumName[] {
  return headers
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => name.slice(PREFIX.length))
    .filter(isChecksumName);
}

/** Null: none. Throws InvalidRequest. */
export function algorithmAsked(headers: IncomingHttpHeaders): ChecksumName | null {
  const asked = String(
    headers['x-amz-checksum-algorithm'] ?? headers['x-amz-sdk-checksum-algorithm'] ?? '',
  ).toLowerCase();
  // A checksum of the request alone, which Content-MD5 is too.
  if (asked === '' || asked === 'md5') return null;
  if (isChecksumName(asked)) return asked;
  throw refusal('InvalidRequest', 'The checksum algorithms are CRC32, CRC32C, CRC64NVME, SHA1 and SHA256.');
}

function typeOf(headers: IncomingHttpHeaders): ChecksumType | null {
  const type = headers['x-amz-checksum-type'];
  if (type === undefined) return null;
  if (type === 'COMPOSITE' || type === 'FULL_OBJECT') return type;
  throw refusal('InvalidRequest', 'x-amz-checksum-type is COMPOSITE or FULL_OBJECT.');
}

function md5Of(header: string | undefined): string | null {
  if (header === undefined) return null;
  const bytes = bytesOf(header, 16);
  if (bytes === null) throw refusal('InvalidDigest', 'Content-MD5 is the MD5 of the body in base64.');
  return bytes.toString('hex');
}

/** As sent in a body too. Throws InvalidRequest. */
export function checkedValue(name: ChecksumName, value: string): string {
  if (isValue(name, value)) return value;
  throw refusal('InvalidRequest', `Value for ${PREFIX}${name} header is invalid.`);
}

const isValue = (name: ChecksumName, value: string) => bytesOf(value, CHECKSUM_BYTES[name]) !== null;

function bytesOf(base64: string, count: number): Buffer | null {
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length === count && bytes.toString('base64') === base64 ? bytes : null;
}

/** As answers and lists have them: `x-amz-checksum-crc32`, `ChecksumCRC32`. */
export function checksumHeader(name: string): string {
  return PREFIX + name;
}

export function checksumElement(name: string): string {
  return name === 'type' ? 'ChecksumType' : `Checksum${name.toUpperCase()}`;
}
