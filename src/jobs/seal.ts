// Computes the ETag and the size of stored bytes.
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { StoredFile } from './content.ts';

type Seal = Pick<StoredFile, 'etag' | 'sizeBytes'>;

export function sealOf(bytes: Uint8Array): Seal {
  return { etag: etagOf(createHash('sha256').update(bytes)), sizeBytes: bytes.length };
}

export async function sealFile(path: string): Promise<Seal> {
  const hash = createHash('sha256');
  const [{ size }] = await Promise.all([stat(path), pipeline(createReadStream(path), hash)]);
  return { etag: etagOf(hash), sizeBytes: size };
}

function etagOf(hash: Hash): string {
  return `"${hash.digest('hex').slice(0, 32)}"`;
}
