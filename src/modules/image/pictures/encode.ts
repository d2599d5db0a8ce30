// Encoder settings of each output format. Large images use the faster settings: a few percent more bytes for a fifth of the time.
import type { Sharp } from 'sharp';
import type { PictureFormat } from '../../../pictures/head.ts';
import type { Transform } from './task.ts';

const QUICK_PIXELS_MIN = 8_000_000;
const SLOW_PIXELS_MAX = 1_000_000;
/** Formats that lose nothing, or whose loss is not a matter of degree. */
const LOSSLESS: ReadonlySet<PictureFormat> = new Set(['png', 'gif', 'tiff']);

interface Written {
  readonly format: PictureFormat;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly pages: number;
}

export function encodeImage(
  work: Sharp,
  { quality }: Pick<Transform, 'quality'>,
  { format, widthPx, heightPx, pages }: Written,
): { readonly pipeline: Sharp; readonly warnings: readonly string[] } {
  const pixels = widthPx * heightPx * pages;
  const isIgnored = quality !== undefined && LOSSLESS.has(format);
  const warnings = isIgnored ? [`quality: ${format} has none; it is ignored.`] : [];
  return { pipeline: inFormat(work, format, pixels, quality), warnings };
}

function inFormat(work: Sharp, format: PictureFormat, pixels: number, quality: number | undefined): Sharp {
  const said = quality === undefined ? {} : { quality };
  const isQuick = pixels > QUICK_PIXELS_MIN;
  switch (format) {
    case 'jpeg':
      // Choosing the best codes would hold all of it in memory once more.
      return work.jpeg({ ...said, optimizeCoding: !isQuick });
    case 'png':
      return work.png({ compressionLevel: isQuick ? 4 : 6 });
    case 'webp':
      return work.webp({ ...said, effort: isQuick ? 0 : 4 });
    case 'avif':
      return work.avif({ ...said, effort: isQuick ? 0 : pixels > SLOW_PIXELS_MAX ? 2 : 4 });
    case 'gif':
      return work.gif({ effort: isQuick ? 1 : 5 });
    case 'tiff':
      return work.tiff({ compression: 'deflate' });
  }
}
