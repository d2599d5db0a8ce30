// Estimated storage price of a video, before the video exists.
import type { PriceName } from '../../../kit/capability.ts';
import { ASSUMED_BITS_PER_SECOND } from '../limits.ts';
import type { VideoResolution } from '../vendors/port.ts';
import { resolutionMultiplier } from './row.ts';

/** By the GiB-day. */
export const STORAGE_PRICE: PriceName = 'video.storage';

/** What the hold assumes that a video takes. */
export function assumedBytes(videoSeconds: number, resolution: VideoResolution): number {
  return (videoSeconds * ASSUMED_BITS_PER_SECOND * resolutionMultiplier[resolution]) / 8;
}
