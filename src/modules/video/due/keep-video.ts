// Moves a finished video and its thumbnail into the asset store.
import type { Assets } from '../../../assets/assets.ts';
import { sealFile } from '../../../jobs/seal.ts';
import type { StoredVideo } from '../jobs/row.ts';

export interface NewVideo extends Pick<StoredVideo, 'contentType' | 'widthPx' | 'heightPx' | 'durationSeconds'> {
  readonly videoPath: string;
  /** A JPEG; null: there is none. */
  readonly thumbnailPath: string | null;
}

/** `name`: of its assets, without an ending. The files are used up. */
export async function keepVideo(assets: Assets, name: string, made: NewVideo): Promise<StoredVideo> {
  const { videoPath, thumbnailPath, contentType, widthPx, heightPx, durationSeconds } = made;
  const [video, thumbnail] = await Promise.all([
    sealFile(videoPath),
    thumbnailPath === null ? null : sealFile(thumbnailPath),
  ]);
  await assets.putFile(videoAsset(name), videoPath);
  if (thumbnailPath !== null) await assets.putFile(`${name}.jpg`, thumbnailPath);
  return {
    asset: videoAsset(name),
    ...video,
    contentType,
    widthPx,
    heightPx,
    durationSeconds,
    thumbnail: thumbnail === null ? null : { asset: `${name}.jpg`, ...thumbnail },
  };
}

export const videoAsset = (name: string) => `${name}.mp4`;
