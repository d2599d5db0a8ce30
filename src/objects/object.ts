// An object's row as stored and as shown.
import Type, { type Static } from 'typebox';
import { iso } from '../lib/time.ts';
import { invalidField, type Problem, problem } from '../problems/problem.ts';
import { KEY_BYTES_MAX, METADATA_BYTES_MAX } from './limits.ts';

/** Headers that are given back with an object, as they were sent. */
export interface KeptHeaders {
  readonly cache_control?: string;
  readonly content_disposition?: string;
  readonly content_encoding?: string;
  readonly content_language?: string;
  readonly expires?: string;
  /** Names of headers, metadata too, whose bytes were Latin-1 and no UTF-8: they are given back in it. */
  readonly latin1?: readonly string[];
}

/** Before the name of what is kept of metadata, as a header. */
export const METADATA_HEADER = 'x-amz-meta-';

/** Base64 by algorithm. `COMPOSITE`: of the checksums of its parts. */
export interface Checksums {
  readonly crc32?: string;
  readonly crc32c?: string;
  readonly crc64nvme?: string;
  readonly sha1?: string;
  readonly sha256?: string;
  readonly type?: 'FULL_OBJECT' | 'COMPOSITE';
}

/** What is said of bytes, beside the bytes. */
export interface About {
  readonly contentType: string;
  readonly headers: KeptHeaders | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly checksums: Checksums | null;
  readonly tags: Readonly<Record<string, string>> | null;
}

export interface ObjectRow {
  readonly account_id: string;
  readonly bucket: string;
  readonly key: Buffer;
  readonly blob_id: string;
  readonly bytes: bigint;
  readonly etag: string;
  readonly content_type: string;
  readonly headers: KeptHeaders | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly checksums: Checksums | null;
  readonly tags: Readonly<Record<string, string>> | null;
  readonly created_at: number;
  readonly updated_at: number;
}

/** Names a table whose alias is `o`. */
export const OBJECT_COLUMNS =
  'o.account_id, o.bucket, o.key, o.blob_id, o.bytes, o.etag, o.content_type, o.headers, o.metadata, o.checksums, o.tags, o.created_at, o.updated_at';

const pairs = (description: string) => Type.Record(Type.String(), Type.String(), { description });

export const objectSchema = Type.Object({
  bucket: Type.String({ description: 'The bucket.' }),
  key: Type.String({ description: 'The key.' }),
  bytes: Type.Integer({ description: 'Its length.' }),
  etag: Type.String({ description: 'MD5 of its bytes in hexadecimal; of a multipart upload that of its parts.' }),
  content_type: Type.String({ description: 'As it was sent; application/octet-stream when it was not.' }),
  metadata: pairs('What was kept with it.'),
  checksums: pairs('Base64 by algorithm, of those that were sent: crc32, crc32c, crc64nvme, sha1, sha256.'),
  created_at: Type.String({ format: 'date-time', description: 'When the key was first written.' }),
  updated_at: Type.String({ format: 'date-time', description: 'When these bytes were written.' }),
});

export type StoredObject = Static<typeof objectSchema>;

export function showObject(row: Omit<ObjectRow, 'account_id' | 'blob_id'>): StoredObject {
  const { type: _, ...checksums } = row.checksums ?? {};
  return {
    bucket: row.bucket,
    key: row.key.toString('utf8'),
    bytes: Number(row.bytes),
    etag: row.etag,
    content_type: row.content_type,
    metadata: row.metadata ?? {},
    checksums: checksums as Record<string, string>,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** The bytes of a key. Throws VALIDATION_FAILED for one that is empty, too long, or no Unicode text. */
export function keyBytes(key: string, param = 'key'): Buffer {
  if (!key.isWellFormed()) throw invalidField(param, 'unicode', `${param} is not valid Unicode.`);
  const bytes = Buffer.from(key, 'utf8');
  if (bytes.length === 0) throw invalidField(param, 'required', `${param} must not be empty.`);
  if (bytes.length > KEY_BYTES_MAX) {
    throw invalidField(param, 'key_too_long', `${param} may have at most ${KEY_BYTES_MAX} bytes of UTF-8.`);
  }
  return bytes;
}

/** Throws VALIDATION_FAILED for metadata that is too long, or could be no header. */
export function requireMetadata(metadata: Readonly<Record<string, string>> | null, param = 'metadata'): void {
  let bytes = 0;
  for (const [name, value] of Object.entries(metadata ?? {})) {
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) {
      throw invalidField(
        param,
        'metadata_name',
        'Names of metadata are lower-case letters, digits and characters that a header may have.',
      );
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a header may not have
    if (/[\x00-\x08\x0a-\x1f\x7f]/.test(value) || !value.isWellFormed()) {
      throw invalidField(param, 'metadata_value', `The value of ${name} has characters that a header may not have.`);
    }
    bytes += name.length + Buffer.byteLength(value);
  }
  if (bytes > METADATA_BYTES_MAX) {
    throw invalidField(param, 'metadata_too_large', `metadata may have at most ${METADATA_BYTES_MAX} bytes in all.`);
  }
}

export const bucketMissing = (param = 'bucket'): Problem => problem('BUCKET_NOT_FOUND', { param });
export const objectMissing = (param = 'key'): Problem => problem('OBJECT_NOT_FOUND', { param });

export const unpaid = (): Problem =>
  problem('INSUFFICIENT_CREDIT', {
    detail: 'storage_unpaid',
    message:
      'An hour of what the account stores could not be charged: objects cannot be read or written until there is credit for it. Add credit with account.topup; deleting works.',
  });
