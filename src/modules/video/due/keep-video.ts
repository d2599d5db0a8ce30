// Putting a video and its thumbnail where their bytes are kept.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Assets } from '../../../assets/assets.ts';
import type { StoredVideo } from '../jobs/row.ts';

export interface NewVideo extends Pick<StoredVideo, 'contentType' | 'widthPx' | 'heightPx' | 'durationSeconds'> {
  readonly videoPath: string;
  /** A JPEG; null: there is none. */
  readonly thumbnailPath: string | null;
}

/** `name`: of its assets, without an ending. The files are used up. */
export async function keepVideo(assets: Assets, name: string, made: NewVideo): Promise<StoredVideo> {
  const { videoPath, thumbnailPath, contentType, widthPx, heightPx, durationSeconds } = made;
  const [video, thumbnail] = await Promise.all([seal(videoPath), thumbnailPath === null ? null : seal(thumbnailPath)]);
  await assets.putFile(videoAsset(name), videoPath);
  if (thumbnailPath !== null) await assets.putFile(`${name}.jpg`, thumbnailPath);
  return {
    asset: videoAsset(name),
    ...video,
    ...{ contentType, widthPx, heightPx, durationSeconds },
    thumbnail: thumbnail === null ? null : { asset: `${name}.jpg`, ...thumbnail },
  };
}

export const videoAsset = (name: string) => `${name}.mp4`;

async function seal(path: string): Promise<{ etag: string; sizeBytes: number }> {
  const hash = createHash('sha256');
  const [{ size }] = await Promise.all([stat(path), pipeline(createReadStream(path), hash)]);
  return { etag: `"${hash.digest('hex').slice(0, 32)}"`, sizeBytes: size };
}
