// Video jobs as a JobKind: their tables, storage price, events, records and assets.
import type { JobKind } from '../../../jobs/kind.ts';
import type { JobRow } from '../../../jobs/row.ts';
import { jobSweeps } from '../../../jobs/sweeps.ts';
import { jobTables } from '../../../jobs/tables.ts';
import { STORAGE_PRICE } from './price.ts';
import { jobRecord } from './record.ts';
import { storedVideoOf, wantedOf, wantedText } from './row.ts';

export const videoKind: JobKind = {
  tables: jobTables({ name: 'video', idPrefix: 'vid_', madeColumn: 'film' }),
  storagePrice: STORAGE_PRICE,
  events: { completed: 'video.job.completed', failed: 'video.job.failed' },
  unitsOf: (job) => wantedOf(job).seconds,
  record: jobRecord,
  assetsOf,
  emptied: (job) => wantedText({ ...wantedOf(job), prompt: '', negativePrompt: null, image: null }),
};

/** Called with the state of a process. */
export const videoSweeps = jobSweeps('video');

/** Its reference image included. */
function assetsOf(job: JobRow): string[] {
  const video = storedVideoOf(job);
  const { image } = wantedOf(job);
  const made = video === null ? [] : [video.asset, ...(video.thumbnail === null ? [] : [video.thumbnail.asset])];
  return image !== null && 'asset' in image ? [...made, image.asset] : made;
}
