// What is made of videos and pictures on this machine.
import { type VideoOptions, videoChecks } from './container/check.ts';
import { PictureProcesses } from './pictures/processes.ts';
import type { PictureBounds } from './port.ts';
import { videoSandbox } from './sandbox/render.ts';

export function videosHere({ pictureBounds, ...options }: VideoOptions & { readonly pictureBounds: PictureBounds }) {
  return {
    videos: { ...videoSandbox, ...videoChecks(options) },
    decoder: new PictureProcesses(pictureBounds),
  };
}
