// The engine of images in a process of its own, as the service runs it.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { admission } from '../../src/core/admission.ts';
import type { ImageBounds, ImageTask, MadeImage, Transform } from '../../src/modules/image/pictures/task.ts';
import { DecodePlaces } from '../../src/pictures/decode-places.ts';
import { PictureProcesses } from '../../src/pictures/processes.ts';

const source = new URL('../../src/modules/image/pictures/process.ts', import.meta.url);

export const blank = (width: number, height: number, channels: 3 | 4 = 3) =>
  sharp({ create: { width, height, channels, background: '#c84' }, limitInputPixels: false });

export async function openEngine() {
  const folder = await mkdtemp(join(tmpdir(), 'qm-images-'));
  const turns = new DecodePlaces(admission.all);
  const bounds = admission.call.image;
  const usual = new PictureProcesses<ImageTask, ImageBounds, MadeImage>(source, bounds, turns);
  let files = 0;
  const run = async (bytes: Uint8Array, task: ImageTask, over?: Partial<ImageBounds>) => {
    files += 1;
    const [from, to] = [join(folder, `${files}.in`), join(folder, `${files}.out`)];
    await writeFile(from, bytes);
    const engine =
      over === undefined
        ? usual
        : new PictureProcesses<ImageTask, ImageBounds, MadeImage>(source, { ...bounds, ...over }, turns);
    const outcome = await engine.make(from, to, task, new AbortController().signal);
    return { outcome, bytes: await readFile(to).catch(() => null) };
  };
  return {
    info: async (bytes: Uint8Array) => (await run(bytes, { kind: 'info' })).outcome,
    transform: (bytes: Uint8Array, transform: Transform, over?: Partial<ImageBounds>) =>
      run(bytes, { kind: 'transform', transform }, over),
    close: () => rm(folder, { recursive: true }),
  };
}
