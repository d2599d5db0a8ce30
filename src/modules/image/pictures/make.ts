// Transforms one image, in a process of its own. Only the decoders of the six formats are enabled, each only for bytes with its signature.
// Metadata in the file is dropped unless the request keeps it.
import { readFile, stat, writeFile } from 'node:fs/promises';
import sharp, { type Metadata, type Sharp } from 'sharp';
import { formatOf, type PictureFormat, refusedByScans } from '../../../pictures/head.ts';
import { type Order, type PictureOutcome, refusedPicture } from '../../../pictures/wire.ts';
import { encodeImage } from './encode.ts';
import { type Size, sizeAfter } from './size.ts';
import type { ImageBounds, ImageFacts, ImageTask, MadeImage, Transform } from './task.ts';

// One image at a time, and none twice.
sharp.concurrency(1);
sharp.cache(false);
const DECODERS = ['JpegBuffer', 'PngBuffer', 'WebpBuffer', 'NsgifBuffer', 'TiffBuffer', 'HeifBuffer'];
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: DECODERS.map((name) => `VipsForeignLoad${name}`) });

/** Formats that hold several frames; of others the first is made. */
const ANIMATED: ReadonlySet<PictureFormat> = new Set(['gif', 'webp']);
/** Format names of the decoder that are not ours. */
const AVIF_DECODER = 'heif';

/** `large`: waits for the turn of an image that takes much memory. */
export async function makeImage(
  { from, to, task }: Order<ImageTask>,
  bounds: ImageBounds,
  large: () => Promise<void>,
): Promise<PictureOutcome<MadeImage>> {
  if ((await stat(from)).size > bounds.bytesMax) return tooLong(bounds.bytesMax);
  const bytes = await readFile(from);
  const format = formatOf(bytes);
  if (format === null)
    return refusedPicture('not_an_image', 'The source is no JPEG, PNG, WebP, AVIF, GIF or TIFF image.');
  const early = refusedByScans(bytes, format, bounds.scansMax);
  if (early !== null) return { kind: 'refused', ...early };
  const found = await metadataOf(bytes);
  if (found === null || found.format !== (format === 'avif' ? AVIF_DECODER : format)) return damaged;
  const facts = factsOf(found, format);
  if (task.kind === 'info') return { kind: 'made', ...facts, warnings: [] };
  const image: Image = { bytes, found, facts };
  const plan = planOf(image, task.transform, bounds);
  if ('kind' in plan) return plan;
  if (facts.widthPx * facts.heightPx * plan.pages > bounds.smallPixelsMax) await large();
  return make(image, task.transform, plan, { to, bounds });
}

interface Image {
  readonly bytes: Buffer;
  readonly found: Metadata;
  readonly facts: ImageFacts;
}

interface Plan extends Size {
  readonly format: PictureFormat;
  /** Frames that are made. */
  readonly pages: number;
}

const metadataOf = (bytes: Buffer) =>
  sharp(bytes, { limitInputPixels: false })
    .metadata()
    .catch(() => null);

function factsOf(found: Metadata, format: PictureFormat): ImageFacts {
  const { width: widthPx, height: heightPx } = found.autoOrient;
  return { format, widthPx, heightPx, pages: found.pages ?? 1, hasAlpha: found.hasAlpha };
}

/** What is to be made, by what the head of the image says; or why it is not. */
function planOf({ found, facts }: Image, transform: Transform, bounds: ImageBounds): Plan | Refused {
  const format = transform.format ?? facts.format;
  const isMoving = facts.pages > 1 && ANIMATED.has(facts.format) && ANIMATED.has(format);
  const pages = isMoving ? facts.pages : 1;
  if (pages > bounds.framesMax)
    return refusedPicture('image_frames', `An image has at most ${bounds.framesMax} frames; this one has ${pages}.`);
  const pixels = facts.widthPx * facts.heightPx * pages;
  if (pixels > bounds.pixelsMax) {
    const message = `An image has at most ${bounds.pixelsMax / 1e6} million pixels, all frames together; this one has ${Math.ceil(pixels / 1e6)} million.`;
    return refusedPicture('image_size', message);
  }
  const decodedBytes = pixels * found.channels * bytesOfDepth(found.depth);
  if (decodedBytes > bounds.decodedBytesMax) {
    const message = `Decoded, an image has at most ${bounds.decodedBytesMax / 1e6} million bytes; this one has ${Math.ceil(decodedBytes / 1e6)} million. Save it with 8 bits a channel.`;
    return refusedPicture('image_size', message);
  }
  const still = isMoving ? stillOnlyOption(transform) : null;
  if (still !== null) {
    const message = `${still} works on one frame, and this image has ${pages}. Set format to jpeg, png, avif or tiff to take the first.`;
    return refusedPicture('image_animated', message);
  }
  const size = sizeAfter(facts, transform, bounds, pages);
  return 'kind' in size ? size : { ...size, format, pages };
}

type Refused = ReturnType<typeof refusedPicture>;

function bytesOfDepth(depth: Metadata['depth']): number {
  if (depth === 'uchar' || depth === 'char') return 1;
  if (depth === 'ushort' || depth === 'short') return 2;
  return depth === 'double' || depth === 'complex' ? 8 : 4;
}

/** What the decoder does to all frames as if they were one image. */
function stillOnlyOption({ rotate, flip, blur, sharpen }: Transform): string | null {
  if (rotate !== undefined && rotate !== 0) return 'rotate';
  if (flip !== undefined && flip !== 'horizontal') return `flip ${flip}`;
  if (blur !== undefined) return 'blur';
  return sharpen === undefined ? null : 'sharpen';
}

async function make(
  image: Image,
  transform: Transform,
  plan: Plan,
  { to, bounds }: { readonly to: string; readonly bounds: ImageBounds },
): Promise<PictureOutcome<MadeImage>> {
  const { pages, format } = plan;
  const options = { limitInputPixels: bounds.pixelsMax, failOn: 'error', animated: pages > 1 } as const;
  const { pipeline, warnings } = encodeImage(
    applyTransform(sharp(image.bytes, options), image, transform, plan),
    transform,
    plan,
  );
  const made = await pipeline.toBuffer({ resolveWithObject: true }).catch(() => null);
  if (made === null) return damaged;
  if (made.data.length > bounds.madeBytesMax)
    return refusedPicture(
      'image_too_large',
      `The result has more than ${bounds.madeBytesMax / 2 ** 20} MiB. Set resize.`,
    );
  await writeFile(to, made.data, { mode: 0o600 });
  const { width: widthPx, height, channels } = made.info;
  const hasAlpha = channels === 4 || channels === 2;
  return { kind: 'made', format, widthPx, heightPx: height / pages, pages, hasAlpha, warnings };
}

const TRANSPARENT = { r: 0, g: 0, b: 0, alpha: 0 };
const WHITE = '#ffffff';

/** Upright, turned, cut, resized, and what else is asked for, in this order. */
function applyTransform(image: Sharp, { facts }: Image, transform: Transform, { pages, format }: Plan): Sharp {
  const { rotate = 0, crop, resize, flip, blur, sharpen, grayscale, background, keep_metadata: keeps } = transform;
  // A JPEG has no transparency.
  const isOpaque = format === 'jpeg' || background !== undefined;
  const behind = background ?? (isOpaque ? WHITE : TRANSPARENT);
  let work = pages > 1 ? image : image.autoOrient();
  if (rotate !== 0) work = work.rotate(rotate);
  if (crop !== undefined) work = work.extract(crop);
  if (resize !== undefined) {
    const fit = resize.width === undefined || resize.height === undefined ? 'cover' : (resize.fit ?? 'cover');
    work = work.resize({ ...resize, fit, background: behind });
  }
  if (flip === 'vertical' || flip === 'both') work = work.flip();
  if (flip === 'horizontal' || flip === 'both') work = work.flop();
  if (isOpaque && facts.hasAlpha) work = work.flatten({ background: behind });
  if (blur !== undefined) work = work.blur(blur);
  if (sharpen !== undefined) work = work.sharpen({ sigma: sharpen });
  if (grayscale === true) work = work.grayscale();
  return keeps === true ? work.keepMetadata() : work;
}

const damaged = refusedPicture('not_an_image', 'The image is damaged.');

function tooLong(bytesMax: number): Refused {
  return refusedPicture('image_too_large', `The source has more than ${bytesMax / 2 ** 20} MiB.`);
}
