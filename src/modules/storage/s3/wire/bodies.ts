// Parsers for XML bodies. Long ones (keys to delete, parts of a completed upload) are read in a thread; short ones are bucket settings and
// object tags.
import { type ChecksumName, isChecksumName } from '../../../../core/credentials/aws-checksums.ts';
import type { BodyTask } from '../../../../kit/raw-route.ts';
import type { XmlBounds, XmlElement } from '../../../../lib/xml.ts';
import type { RemovalConditions } from '../../../../objects/conditions.ts';
import { checkedValue, checksumElement } from './checksums.ts';
import { deleteConditions } from './conditions.ts';
import { checkedTags } from './object-headers.ts';
import { KEY_BYTES_MAX } from './operation.ts';
import { malformedXml, notImplemented, refusal } from './refusals.ts';
import { childOf, childrenOf, readXml, requiredText, textOf } from './xml.ts';

const DELETED_MAX = 1_000;
const PARTS_MAX = 10_000;
const KIB = 1_024;
/** A key with all that may be said of it, and white space between: 20 parts. Its 1,024 bytes may be entities, half of them are not. */
const DELETE_BOUNDS: XmlBounds = { bytesMax: 2 * KIB * KIB, partsMax: 20 * DELETED_MAX };
/** A part with number, ETag and checksum, and white space between: 12 parts of XML, up to 300 bytes. */
const COMPLETE_BOUNDS: XmlBounds = { bytesMax: 3 * KIB * KIB, partsMax: 13 * PARTS_MAX };
/** What a POST may send at most. */
export const LONG_XML_BYTES_MAX = COMPLETE_BOUNDS.bytesMax;
/** Ten tags of 384 characters; a region. */
const TAGGING_BOUNDS: XmlBounds = { bytesMax: 32 * KIB, partsMax: 200 };
const CREATE_BOUNDS: XmlBounds = { bytesMax: 16 * KIB, partsMax: 200 };
/** Of the smallest elements, 1,600 parts: XML takes ten times as long as JSON to read. */
const HERE_BYTES_MAX = 4 * KIB;
const ALGORITHMS = ['crc32', 'crc32c', 'crc64nvme', 'sha1', 'sha256'].filter(isChecksumName);

/** A hundred grants, as Amazon has at most. */
const ACL_BOUNDS: XmlBounds = { bytesMax: 32 * KIB, partsMax: 1_000 };

export interface KeyToDelete {
  readonly key: string;
  readonly conditions: RemovalConditions;
}

export interface DeleteRequest {
  readonly objects: readonly KeyToDelete[];
  /** Only failures are answered. */
  readonly isQuiet: boolean;
}

/** Throws MalformedXML, InvalidArgument. */
export const readDelete: BodyTask<DeleteRequest> = {
  source: import.meta.url,
  id: 'storage.s3.delete',
  hereBytesMax: HERE_BYTES_MAX,
  run(body) {
    const root = readXml(body, 'Delete', DELETE_BOUNDS);
    const objects = childrenOf(root, 'Object');
    if (objects.length === 0 || objects.length > DELETED_MAX) throw malformedXml(`Name 1 to ${DELETED_MAX} keys.`);
    return { objects: objects.map(keyToDelete), isQuiet: textOf(root, 'Quiet')?.trim().toLowerCase() === 'true' };
  },
};

function keyToDelete(object: XmlElement): KeyToDelete {
  const key = requiredText(object, 'Key');
  const version = textOf(object, 'VersionId');
  if (version !== undefined && version !== 'null') throw refusal('InvalidArgument', 'Objects have no versions here.');
  if (key === '') throw malformedXml('A key to delete is empty.');
  if (Buffer.byteLength(key) > KEY_BYTES_MAX) {
    throw refusal('KeyTooLongError', `A key has at most ${KEY_BYTES_MAX} bytes in UTF-8.`);
  }
  const said = {
    etag: textOf(object, 'ETag'),
    size: textOf(object, 'Size'),
    changed: textOf(object, 'LastModifiedTime'),
  };
  return { key, conditions: deleteConditions(said) };
}

export interface NamedPart {
  readonly partNumber: number;
  /** Without quotes. */
  readonly etag: string;
  /** In base64, where the request says it again. */
  readonly checksums: Partial<Record<ChecksumName, string>>;
}

/** The parts in the order of their numbers. Throws MalformedXML, InvalidPartOrder, InvalidRequest. */
export const readComplete: BodyTask<readonly NamedPart[]> = {
  source: import.meta.url,
  id: 'storage.s3.complete',
  hereBytesMax: HERE_BYTES_MAX,
  run(body) {
    const parts = childrenOf(readXml(body, 'CompleteMultipartUpload', COMPLETE_BOUNDS), 'Part').map(partOf);
    if (parts.length === 0 || parts.length > PARTS_MAX) throw malformedXml(`Name 1 to ${PARTS_MAX} parts.`);
    if (parts.some(({ partNumber }, at) => at > 0 && partNumber <= (parts[at - 1] as NamedPart).partNumber)) {
      throw refusal('InvalidPartOrder', 'The parts must stand in ascending order of their numbers.');
    }
    return parts;
  },
};

function partOf(part: XmlElement): NamedPart {
  const checksums = ALGORITHMS.flatMap((name): [ChecksumName, string][] => {
    const value = textOf(part, checksumElement(name));
    return value === undefined ? [] : [[name, checkedValue(name, value.trim())]];
  });
  return {
    partNumber: partNumberOf(requiredText(part, 'PartNumber').trim()),
    etag: requiredText(part, 'ETag').trim().replaceAll(/^"|"$/g, ''),
    checksums: Object.fromEntries(checksums),
  };
}

/** Throws InvalidArgument. */
export function partNumberOf(text: string): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= PARTS_MAX) return number;
  throw refusal('InvalidArgument', `Part numbers are 1 to ${PARTS_MAX}.`);
}

/** Throws MalformedXML, InvalidTag. */
export function readTagging(body: Buffer): Record<string, string> {
  const set = childOf(readXml(body, 'Tagging', TAGGING_BOUNDS), 'TagSet');
  if (set === undefined) throw malformedXml('Tagging needs TagSet.');
  return checkedTags(childrenOf(set, 'Tag').map((tag) => [requiredText(tag, 'Key'), requiredText(tag, 'Value')]));
}

/** The region that the bucket is for, by any name; null: none is said. Throws MalformedXML, InvalidLocationConstraint. */
export function readCreateBucket(body: Buffer): string | null {
  if (body.length === 0) return null;
  const root = readXml(body, 'CreateBucketConfiguration', CREATE_BOUNDS);
  const other = root.children.find(({ name }) => name !== 'LocationConstraint');
  if (other !== undefined) throw notImplemented(`${other.name} of a bucket`);
  const region = textOf(root, 'LocationConstraint')?.trim() ?? '';
  if (region === '') return null;
  if (/^[a-z0-9-]{1,63}$/i.test(region)) return region;
  throw refusal('InvalidLocationConstraint', 'A region has up to 63 letters, digits and hyphens.');
}

/** Whether the access control list gives its owner all rights, and nobody else any. Throws MalformedXML. */
export function isOwnersAlone(body: Buffer, owner: string): boolean {
  const list = childOf(readXml(body, 'AccessControlPolicy', ACL_BOUNDS), 'AccessControlList');
  const grants = list === undefined ? [] : childrenOf(list, 'Grant');
  return grants.length > 0 && grants.every((grant) => grantsAllTo(grant, owner));
}

function grantsAllTo(grant: XmlElement, owner: string): boolean {
  const grantee = childOf(grant, 'Grantee');
  return grantee !== undefined && textOf(grantee, 'ID') === owner && textOf(grant, 'Permission') === 'FULL_CONTROL';
}
