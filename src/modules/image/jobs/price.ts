// Storage price of images, estimated before they exist.
import type { PriceName } from '../../../kit/capability.ts';
import { sidesOf } from './row.ts';

/** By the GiB-day. */
export const STORAGE_PRICE: PriceName = 'image.storage';

/** What the hold assumes that an image takes: more than a PNG of noise does. */
export function assumedBytes(size: string, n: number): number {
  const { widthPx, heightPx } = sidesOf(size);
  return 4 * widthPx * heightPx * n;
}
