// Putting a film and its thumbnail where their bytes are kept.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { AssetStore } from '../../../vendors/assets/port.ts';
import type { Film } from '../jobs/row.ts';

export interface NewFilm extends Pick<Film, 'contentType' | 'widthPx' | 'heightPx' | 'durationSeconds'> {
  readonly filmPath: string;
  /** A JPEG; null: there is none. */
  readonly thumbnailPath: string | null;
}

/** `name`: of its assets, without an ending. The files are used up. */
export async function keepFilm(assets: AssetStore, name: string, made: NewFilm): Promise<Film> {
  const { filmPath, thumbnailPath, contentType, widthPx, heightPx, durationSeconds } = made;
  const [film, thumbnail] = await Promise.all([seal(filmPath), thumbnailPath === null ? null : seal(thumbnailPath)]);
  await assets.putFile(filmAsset(name), filmPath);
  if (thumbnailPath !== null) await assets.putFile(`${name}.jpg`, thumbnailPath);
  return {
    asset: filmAsset(name),
    ...film,
    ...{ contentType, widthPx, heightPx, durationSeconds },
    thumbnail: thumbnail === null ? null : { asset: `${name}.jpg`, ...thumbnail },
  };
}

export const filmAsset = (name: string) => `${name}.mp4`;

async function seal(path: string): Promise<{ etag: string; sizeBytes: number }> {
  const hash = createHash('sha256');
  const [{ size }] = await Promise.all([stat(path), pipeline(createReadStream(path), hash)]);
  return { etag: `"${hash.digest('hex').slice(0, 32)}"`, sizeBytes: size };
}
