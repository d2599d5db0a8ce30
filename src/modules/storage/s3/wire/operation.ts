// Identifies the S3 operation of a request by method, target (service, bucket or object) and sub-resource in the query. The served list is
// closed; all else is NotImplemented. Keys are read byte for byte: `..`, `//` and `+` are plain characters.
import type { IncomingHttpHeaders } from 'node:http';
import { notImplemented, refusal } from './refusals.ts';

/** Of a request. Null: it names none. */
export interface S3Address {
  readonly bucket: string | null;
  readonly key: string | null;
  /** The first value of each name. */
  readonly query: ReadonlyMap<string, string>;
}

export type Operation =
  | 'ListBuckets'
  | (typeof BUCKET_OPERATIONS)[number][2]
  | (typeof OBJECT_OPERATIONS)[number][2]
  | 'CopyObject'
  | 'UploadPartCopy';

export const KEY_BYTES_MAX = 1_024;
const ROOT = '/s3';

/** Method, sub-resource, operation: the first row whose sub-resource is in the query; the empty one stands behind the others. */
const BUCKET_OPERATIONS = [
  ['GET', 'cors', 'GetBucketCors'],
  ['PUT', 'cors', 'PutBucketCors'],
  ['DELETE', 'cors', 'DeleteBucketCors'],
  ['GET', 'location', 'GetBucketLocation'],
  ['GET', 'versioning', 'GetBucketVersioning'],
  ['GET', 'lifecycle', 'GetBucketLifecycleConfiguration'],
  ['PUT', 'lifecycle', 'PutBucketLifecycleConfiguration'],
  ['DELETE', 'lifecycle', 'DeleteBucketLifecycle'],
  ['GET', 'notification', 'GetBucketNotificationConfiguration'],
  ['PUT', 'notification', 'PutBucketNotificationConfiguration'],
  ['GET', 'acl', 'GetBucketAcl'],
  ['PUT', 'acl', 'PutBucketAcl'],
  ['GET', 'policy', 'GetBucketPolicy'],
  ['GET', 'policyStatus', 'GetBucketPolicyStatus'],
  ['GET', 'encryption', 'GetBucketEncryption'],
  ['GET', 'tagging', 'GetBucketTagging'],
  ['GET', 'website', 'GetBucketWebsite'],
  ['GET', 'object-lock', 'GetObjectLockConfiguration'],
  ['GET', 'replication', 'GetBucketReplication'],
  ['GET', 'publicAccessBlock', 'GetPublicAccessBlock'],
  ['GET', 'ownershipControls', 'GetBucketOwnershipControls'],
  ['GET', 'logging', 'GetBucketLogging'],
  ['GET', 'requestPayment', 'GetBucketRequestPayment'],
  ['GET', 'accelerate', 'GetBucketAccelerateConfiguration'],
  ['GET', 'uploads', 'ListMultipartUploads'],
  ['POST', 'delete', 'DeleteObjects'],
  ['GET', 'versions', 'ListObjectVersions'],
  ['GET', 'list-type', 'ListObjectsV2'],
  ['GET', '', 'ListObjects'],
  ['PUT', '', 'CreateBucket'],
  ['HEAD', '', 'HeadBucket'],
  ['DELETE', '', 'DeleteBucket'],
] as const;

const OBJECT_OPERATIONS = [
  ['GET', 'acl', 'GetObjectAcl'],
  ['PUT', 'acl', 'PutObjectAcl'],
  ['GET', 'tagging', 'GetObjectTagging'],
  ['PUT', 'tagging', 'PutObjectTagging'],
  ['DELETE', 'tagging', 'DeleteObjectTagging'],
  ['GET', 'attributes', 'GetObjectAttributes'],
  ['GET', 'uploadId', 'ListParts'],
  ['PUT', 'uploadId', 'UploadPart'],
  ['POST', 'uploadId', 'CompleteMultipartUpload'],
  ['DELETE', 'uploadId', 'AbortMultipartUpload'],
  ['POST', 'uploads', 'CreateMultipartUpload'],
  ['GET', '', 'GetObject'],
  ['HEAD', '', 'HeadObject'],
  ['PUT', '', 'PutObject'],
  ['DELETE', '', 'DeleteObject'],
] as const;

/** Every sub-resource there is: one that the row found does not name is not served. */
const SUB_RESOURCES: ReadonlySet<string> = new Set(
  `abac accelerate acl analytics annotation attributes cors delete encryption intelligent-tiering inventory legal-hold lifecycle location
  logging metadataConfiguration metadataTable metrics notification object-lock ownershipControls policy policyStatus publicAccessBlock
  renameObject replication requestPayment restore retention select session tagging torrent uploadId uploads versioning versions
  website`.split(/\s+/),
);
const COPIED: Partial<Record<Operation, Operation>> = { PutObject: 'CopyObject', UploadPart: 'UploadPartCopy' };

/** `url`: path and query below the root, as they were sent. Throws InvalidURI, KeyTooLongError. */
export function addressOf(url: string): S3Address {
  const [path = '', queryText = ''] = url.split(/\?(.*)/s, 2);
  const [bucket = '', key = ''] = path
    .slice(ROOT.length + 1)
    .split(/\/(.*)/s, 2)
    .map(decodePath);
  if (Buffer.byteLength(key) > KEY_BYTES_MAX) {
    throw refusal('KeyTooLongError', `A key has at most ${KEY_BYTES_MAX} bytes in UTF-8.`);
  }
  const query = new Map<string, string>();
  for (const pair of queryText.split('&')) {
    // A plus sign is one, as the signature has it.
    const [name = '', value = ''] = pair.split(/=(.*)/s, 2).map(decodePath);
    if (name !== '' && !query.has(name)) query.set(name, value);
  }
  return { bucket: bucket === '' ? null : bucket, key: key === '' ? null : key, query };
}

/** What a failure names as its resource: `/bucket/key` as they were sent, without a root of ours. */
export function resourceOf(url: string): string {
  const [path = ''] = url.split('?', 1);
  return path.slice(ROOT.length) || '/';
}

/** Throws InvalidURI for what is not UTF-8 with percent signs. */
export function decodePath(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw refusal('InvalidURI', 'The address is not UTF-8, percent-encoded.');
  }
}

/** Throws NotImplemented, MethodNotAllowed, InvalidArgument. */
export function operationOf(
  method: string,
  { bucket, key, query }: S3Address,
  headers: IncomingHttpHeaders,
): Operation {
  const asked = [...query.keys()].filter((name) => SUB_RESOURCES.has(name));
  const version = query.get('versionId');
  if (version !== undefined && version !== 'null') {
    throw refusal('InvalidArgument', 'Objects have no versions here: the only version ID is null.');
  }
  if (bucket === null) {
    if (method === 'GET' && asked.length === 0) return 'ListBuckets';
    throw notServed(method, asked, 'the service');
  }
  const rows: readonly (readonly [string, string, Operation])[] = key === null ? BUCKET_OPERATIONS : OBJECT_OPERATIONS;
  const row = rows.find(([of, name]) => of === method && (name === '' || query.has(name)));
  if (row === undefined || asked.some((name) => name !== row[1])) {
    throw notServed(method, asked, key === null ? 'a bucket' : 'an object');
  }
  return headers['x-amz-copy-source'] === undefined ? row[2] : (COPIED[row[2]] ?? row[2]);
}

function notServed(method: string, asked: readonly string[], of: string) {
  if (asked.length === 0 && method !== 'POST')
    return refusal('MethodNotAllowed', `${method} of ${of} is no operation.`);
  return notImplemented(`${method} ${asked.length === 0 ? 'with a form' : `?${asked.join('&')}`} of ${of}`);
}
