// Checksums of the single parts of an object that was uploaded in parts. They stand in a column of the blob's row that only they are read from:
// a byte for the algorithm, then the digests in the order of the parts. So a page of them is a slice, and no other read takes them along.
import { CHECKSUM_BYTES, type ChecksumName, isChecksumName } from '../core/credentials/aws-checksums.ts';
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import type { Checksums, ObjectRow } from './object.ts';

/** By the byte that is stored. */
const ALGORITHMS: readonly ChecksumName[] = ['crc32', 'crc32c', 'crc64nvme', 'sha1', 'sha256'];

const selectSlice = statement(
  'storage_select_part_checksums',
  `SELECT substr(b.part_checksums, 1, 1) AS algorithm, substr(b.part_checksums, $3::int, $4::int) AS digests
     FROM storage.blob b WHERE b.account_id = $1 AND b.blob_id = $2 AND b.part_checksums IS NOT NULL`,
);

/** `parts`: each has a checksum of this algorithm. */
export function packPartChecksums(
  algorithm: ChecksumName,
  parts: readonly { readonly checksums: Checksums | null }[],
): Buffer {
  const digests = parts.map(({ checksums }) => Buffer.from(checksums?.[algorithm] ?? '', 'base64'));
  return Buffer.concat([Buffer.of(ALGORITHMS.indexOf(algorithm)), ...digests]);
}

/** Of `count` parts behind the first `before`. Empty where none are kept, or they are of another algorithm than the object has now. */
export async function readPartChecksums(
  db: Queryable,
  { account_id: accountId, blob_id: blobId, checksums }: Pick<ObjectRow, 'account_id' | 'blob_id' | 'checksums'>,
  { before, count }: { readonly before: number; readonly count: number },
): Promise<readonly Checksums[]> {
  const algorithm = Object.keys(checksums ?? {}).find(isChecksumName);
  if (algorithm === undefined) return [];
  const bytes = CHECKSUM_BYTES[algorithm];
  const slice = [2 + before * bytes, count * bytes];
  const { rows } = await db.query<{ algorithm: Buffer; digests: Buffer }>(selectSlice, [accountId, blobId, ...slice]);
  const [found] = rows;
  if (found === undefined || ALGORITHMS[found.algorithm[0] ?? -1] !== algorithm) return [];
  return Array.from({ length: found.digests.length / bytes }, (_, i) => ({
    [algorithm]: found.digests.toString('base64', i * bytes, (i + 1) * bytes),
  }));
}
