// Transformations of an image, and the facts reported of one: the same for calls, presets and links.
import type { PictureFormat } from '../../../pictures/head.ts';
import type { DecodeBounds } from '../../../pictures/wire.ts';

export const formats = ['jpeg', 'png', 'webp', 'avif', 'gif', 'tiff'] as const satisfies readonly PictureFormat[];
export const fits = ['cover', 'contain', 'fill', 'inside', 'outside'] as const;
export const turns = [0, 90, 180, 270] as const;
export const flips = ['horizontal', 'vertical', 'both'] as const;

/** In this order: upright by its EXIF, rotate, crop, resize, flip, the rest. */
export interface Transform {
  readonly rotate?: (typeof turns)[number];
  readonly crop?: { readonly left: number; readonly top: number; readonly width: number; readonly height: number };
  readonly resize?: { readonly width?: number; readonly height?: number; readonly fit?: (typeof fits)[number] };
  readonly flip?: (typeof flips)[number];
  readonly blur?: number;
  readonly sharpen?: number;
  readonly grayscale?: boolean;
  /** `#rrggbb`. */
  readonly background?: string;
  /** That of the source when absent. */
  readonly format?: PictureFormat;
  readonly quality?: number;
  readonly keep_metadata?: boolean;
}

export interface ImageBounds extends DecodeBounds {
  readonly bytesMax: number;
  /** Of all frames together; of what is made too. */
  readonly pixelsMax: number;
  /** Pixels x channels x bytes of each. */
  readonly decodedBytesMax: number;
  readonly framesMax: number;
  /** Of what is made. */
  readonly sidePxMax: number;
  readonly madeBytesMax: number;
  /** Of larger ones one is made at a time. */
  readonly smallPixelsMax: number;
  /** Of a JPEG. */
  readonly scansMax: number;
}

/** What an image is, upright. */
export interface ImageFacts {
  readonly format: PictureFormat;
  readonly widthPx: number;
  readonly heightPx: number;
  /** Frames of an animation, pages of a TIFF; else 1. */
  readonly pages: number;
  readonly hasAlpha: boolean;
}

export type ImageTask = { readonly kind: 'info' } | { readonly kind: 'transform'; readonly transform: Transform };

export interface MadeImage extends ImageFacts {
  readonly warnings: readonly string[];
}
