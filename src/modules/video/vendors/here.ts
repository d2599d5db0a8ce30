// What is made of films and pictures on this machine.
import { type FilmOptions, filmChecks } from './film/check.ts';
import { PictureProcesses } from './pictures/processes.ts';
import type { PictureBounds } from './port.ts';
import { filmSandbox } from './sandbox/render.ts';

export function filmsHere({ pictureBounds, ...options }: FilmOptions & { readonly pictureBounds: PictureBounds }) {
  return {
    films: { ...filmSandbox, ...filmChecks(options) },
    decoder: new PictureProcesses(pictureBounds),
  };
}
