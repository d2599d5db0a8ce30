// Stores one image file in the asset store.
import { readFile } from 'node:fs/promises';
import type { Assets } from '../../../assets/assets.ts';
import { sealOf } from '../../../jobs/seal.ts';
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
