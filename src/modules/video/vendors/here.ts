// Local video and picture processing: sandbox rendering, video checks, and the picture decoder processes.

import type { DecodePlaces } from '../../../pictures/decode-places.ts';
import { PictureProcesses } from '../../../pictures/processes.ts';
import { type VideoOptions, videoChecks } from './container/check.ts';
import type { MadePicture, PictureBounds, PictureTask } from './port.ts';
import { videoSandbox } from './sandbox/render.ts';

interface Here extends VideoOptions {
  readonly pictureBounds: PictureBounds;
  readonly decodes: Pick<DecodePlaces, 'large'>;
}

export function videosHere({ pictureBounds, decodes, ...options }: Here) {
  const source = new URL('./pictures/process.ts', import.meta.url);
  return {
    videos: { ...videoSandbox, ...videoChecks(options) },
    decoder: new PictureProcesses<PictureTask, PictureBounds, MadePicture>(source, pictureBounds, decodes),
  };
}
