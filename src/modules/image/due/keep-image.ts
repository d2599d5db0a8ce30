// Putting an image where its bytes are kept.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Assets } from '../../../assets/assets.ts';
import type { StoredImage } from '../jobs/row.ts';

/** Puts the file at `path` under `asset`; it is used up. */
export async function keepImage(
  assets: Assets,
  asset: string,
  path: string,
  about: Pick<StoredImage, 'contentType' | 'widthPx' | 'heightPx'>,
): Promise<StoredImage> {
  const bytes = await readFile(path);
  await assets.putFile(asset, path);
  return { asset, ...sealOf(bytes), ...about };
}

export function sealOf(bytes: Uint8Array): { etag: string; sizeBytes: number } {
  return { etag: `"${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}"`, sizeBytes: bytes.length };
}
