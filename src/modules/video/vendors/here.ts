// What is made of videos and pictures on this machine.
import { PictureProcesses } from '../../../pictures/processes.ts';
import type { DecodeTurns } from '../../../pictures/turns.ts';
import { type VideoOptions, videoChecks } from './container/check.ts';
import type { MadePicture, PictureBounds, PictureTask } from './port.ts';
import { videoSandbox } from './sandbox/render.ts';

interface Here extends VideoOptions {
  readonly pictureBounds: PictureBounds;
  readonly decodes: Pick<DecodeTurns, 'large'>;
}

export function videosHere({ pictureBounds, decodes, ...options }: Here) {
  const source = new URL('./pictures/process.ts', import.meta.url);
  return {
    videos: { ...videoSandbox, ...videoChecks(options) },
    decoder: new PictureProcesses<PictureTask, PictureBounds, MadePicture>(source, pictureBounds, decodes),
  };
}
