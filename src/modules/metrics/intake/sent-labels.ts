// Cache of series by the bytes of their labels in remote write. Senders repeat the same bytes with each sample; parsing, checking and hashing
// labels takes two thirds of the time of a sample.
import { LRUCache } from 'lru-cache';
import type { SeriesIdentity } from '../series/identity.ts';

/** Characters of all together: some 40,000 series. */
const KEPT_MAX = 16 * 1024 * 1024;
/** Longer labels are read each time. */
const BYTES_MAX = 2_048;
const ENTRY_CHARACTERS = 100;

const known = new LRUCache<string, SeriesIdentity>({
  maxSize: KEPT_MAX,
  sizeCalculation: ({ name, labels }, bytes) => bytes.length + name.length + labels.length + ENTRY_CHARACTERS,
});

/** The series that these bytes name; `read` tells it where it is not known, or why they name none. Throws what `read` throws. */
export function seriesOfBytes(bytes: Buffer, read: () => SeriesIdentity | string): SeriesIdentity | string {
  if (bytes.length > BYTES_MAX) return read();
  const key = bytes.toString('latin1');
  const found = known.get(key);
  if (found !== undefined) return found;
  const series = read();
  if (typeof series !== 'string') known.set(key, series);
  return series;
}
