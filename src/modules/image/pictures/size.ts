// Output size of a transformation, computed from the source size before anything is decoded. A result that would be too large is refused from
// the header alone.
import { type PictureRefusal, refusedPicture } from '../../../pictures/wire.ts';
import type { ImageBounds, Transform } from './task.ts';

export interface Size {
  readonly widthPx: number;
  readonly heightPx: number;
}

/** The size of what is made of an upright image of `size`; a refusal where the crop lies outside of it, or too much would be made. */
export function sizeAfter(
  size: Size,
  { rotate, crop, resize }: Pick<Transform, 'rotate' | 'crop' | 'resize'>,
  { sidePxMax, pixelsMax }: Pick<ImageBounds, 'sidePxMax' | 'pixelsMax'>,
  pages: number,
): Size | ({ readonly kind: 'refused' } & PictureRefusal) {
  const turned = rotate === 90 || rotate === 270 ? { widthPx: size.heightPx, heightPx: size.widthPx } : size;
  if (crop !== undefined && (crop.left + crop.width > turned.widthPx || crop.top + crop.height > turned.heightPx)) {
    const message = `The crop lies outside of the image, which has ${turned.widthPx} x ${turned.heightPx} pixels.`;
    return refusedPicture('image_size', message);
  }
  const cut = crop === undefined ? turned : { widthPx: crop.width, heightPx: crop.height };
  const made = resize === undefined ? cut : resizedSize(cut, resize);
  const isTooLarge =
    Math.max(made.widthPx, made.heightPx) > sidePxMax || made.widthPx * made.heightPx * pages > pixelsMax;
  if (!isTooLarge) return made;
  const frames = pages === 1 ? '' : `${pages} frames of `;
  const message = `The result would have ${frames}${made.widthPx} x ${made.heightPx} pixels; it has at most ${sidePxMax} a side and ${pixelsMax / 1e6} million in all. Set resize.`;
  return refusedPicture('image_size', message);
}

function resizedSize(
  { widthPx, heightPx }: Size,
  { width, height, fit = 'cover' }: NonNullable<Transform['resize']>,
): Size {
  const [across, down] = [width ?? Number.NaN, height ?? Number.NaN];
  // Where one side is given, the other follows.
  if (height === undefined) return { widthPx: across, heightPx: whole((heightPx * across) / widthPx) };
  if (width === undefined) return { widthPx: whole((widthPx * down) / heightPx), heightPx: down };
  if (fit !== 'inside' && fit !== 'outside') return { widthPx: across, heightPx: down };
  const scales = [across / widthPx, down / heightPx] as const;
  const scale = fit === 'inside' ? Math.min(...scales) : Math.max(...scales);
  return { widthPx: whole(widthPx * scale), heightPx: whole(heightPx * scale) };
}

const whole = (pixels: number) => Math.max(1, Math.round(pixels));
