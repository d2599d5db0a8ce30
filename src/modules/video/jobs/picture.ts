// Frame size in pixels, by resolution and aspect ratio.
import type { VideoResolution } from '../vendors/port.ts';
import type { AspectRatio } from './row.ts';

const SHORT_SIDE: Readonly<Record<VideoResolution, number>> = { '720p': 720, '1080p': 1_080, '4k': 2_160 };
/** H.264 goes no further at level 5.1. */
const LONG_SIDE_MAX = 3_840;

/** Pixels, both even. The short side is the resolution's, but where the long one would be too long: 21:9 at 4k is 3840 x 1646. */
export function pictureSize(
  resolution: VideoResolution,
  aspectRatio: AspectRatio,
): { widthPx: number; heightPx: number } {
  const [across, down] = aspectRatio.split(':').map(Number) as [number, number];
  const short = SHORT_SIDE[resolution];
  const ratio = Math.max(across, down) / Math.min(across, down);
  const long = Math.min(LONG_SIDE_MAX, even(short * ratio));
  const side = long === LONG_SIDE_MAX ? Math.min(short, even(long / ratio)) : short;
  return across >= down ? { widthPx: long, heightPx: side } : { widthPx: side, heightPx: long };
}

function even(pixels: number): number {
  return Math.round(pixels / 2) * 2;
}
