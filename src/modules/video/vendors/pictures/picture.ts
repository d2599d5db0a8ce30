// Picture conversion, run in a process of its own: pixels decoded to 8 bits and turned upright; all other content of the file is dropped.
import { readFile, stat } from 'node:fs/promises';
import sharp, { type Metadata, type Sharp } from 'sharp';
import { formatOf, isAnimatedPng, type PictureFormat, refusedByScans } from '../../../../pictures/head.ts';
import { type Order, type PictureOutcome, type PictureRefusal, refusedPicture } from '../../../../pictures/wire.ts';
import type { MadePicture, PictureBounds, PictureTask } from '../port.ts';

/** Encoding larger ones as WebP takes the quickest way: five times as fast, a tenth more bytes. */
const QUICK_PIXELS_MIN = 8_000_000;
/** Made smaller without need, a picture would lose detail: a copy may be longer than what was sent, but not many times. */
const COPY_BYTES_MAX = 32 * 1024 * 1024;

// One picture at a time, and none twice.
sharp.concurrency(1);
sharp.cache(false);
// A JPEG with a gain map is read as the plain JPEG that it is, too.
sharp.block({ operation: ['VipsForeignLoadUhdr'] });

/** `large`: waits for the turn of a picture that takes much memory. */
export async function makePicture(
  { from, to, task }: Order<PictureTask>,
  bounds: PictureBounds,
  large: () => Promise<void>,
): Promise<PictureOutcome<MadePicture>> {
  if ((await stat(from)).size > bounds.bytesMax)
    return refusedPicture('image_too_large', 'The image has more than 10 MiB.');
  const bytes = await readFile(from);
  const format = formatOf(bytes);
  if (!isTaken(format)) return refusedPicture('not_an_image', 'It is no JPEG, PNG or WebP image.');
  if (format === 'png' && isAnimatedPng(bytes)) return animated;
  const early = refusedByScans(bytes, format, bounds.scansMax);
  if (early !== null) return { kind: 'refused', ...early };
  const found = await sharp(bytes, { limitInputPixels: false })
    .metadata()
    .catch(() => null);
  if (found === null) return damaged;
  const late = refusedBySize(found, task.kind === 'thumbnail' ? { ...bounds, sidePxMin: 1 } : bounds);
  if (late !== null) return { kind: 'refused', ...late };
  if (found.width * found.height > bounds.smallPixelsMax) await large();
  const upright = sharp(bytes, { limitInputPixels: bounds.pixelsMax, animated: false, failOn: 'error' }).autoOrient();
  const { pipeline, contentType } = encodePicture(upright.toColourspace('srgb'), task, format, found);
  const isMade = await pipeline.toFile(to).then(
    () => true,
    () => false,
  );
  if (!isMade) return damaged;
  const { size } = await stat(to);
  if (size > COPY_BYTES_MAX) return refusedPicture('image_too_large', 'Written anew, the image has more than 32 MiB.');
  return { kind: 'made', contentType };
}

function refusedBySize(found: Metadata, bounds: PictureBounds): PictureRefusal | null {
  if ((found.pages ?? 1) > 1) return animated;
  const { width, height, channels } = found;
  const { sidePxMin, sidePxMax, pixelsMax, decodedBytesMax } = bounds;
  if (Math.min(width, height) < sidePxMin || Math.max(width, height) > sidePxMax || width * height > pixelsMax) {
    const message = `An image has ${sidePxMin} to ${sidePxMax.toLocaleString('en')} pixels a side, and at most ${pixelsMax / 1e6} million.`;
    return { rule: 'image_size', message };
  }
  const decodedBytes = width * height * channels * (found.depth === 'uchar' ? 1 : 2);
  if (decodedBytes <= decodedBytesMax) return null;
  const message = `Decoded, an image has at most ${decodedBytesMax / 1e6} million bytes; this one has ${Math.ceil(decodedBytes / 1e6)}. Save it with 8 bits a channel.`;
  return { rule: 'image_size', message };
}

function encodePicture(upright: Sharp, task: PictureTask, format: Taken, { width, height }: Metadata) {
  switch (task.kind) {
    case 'clean':
      return { pipeline: inFormat(upright, format, width * height), contentType: `image/${format}` as const };
    case 'thumbnail': {
      const { sidePx } = task;
      const small = upright.resize({ width: sidePx, height: sidePx, fit: 'inside', withoutEnlargement: true });
      return { pipeline: small.jpeg(), contentType: 'image/jpeg' as const };
    }
    case 'cover':
      return {
        pipeline: upright.resize(task.widthPx, task.heightPx, { fit: 'cover' }).png({ compressionLevel: 1 }),
        contentType: 'image/png' as const,
      };
  }
}

function inFormat(upright: Sharp, format: Taken, pixels: number): Sharp {
  switch (format) {
    case 'jpeg':
      // Choosing the best codes would hold all of it in memory once more.
      return upright.jpeg({ optimizeCoding: false });
    case 'png':
      return upright.png({ compressionLevel: 4, adaptiveFiltering: true });
    case 'webp':
      return upright.webp({ effort: pixels > QUICK_PIXELS_MIN ? 0 : 4 });
  }
}

const damaged = refusedPicture('not_an_image', 'The image is damaged.');
const animated = refusedPicture('image_animated', 'The image is animated.');

type Taken = Extract<PictureFormat, 'jpeg' | 'png' | 'webp'>;

function isTaken(format: PictureFormat | null): format is Taken {
  return format === 'jpeg' || format === 'png' || format === 'webp';
}
