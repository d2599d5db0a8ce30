// The job kind of images: what the shared job machinery (src/jobs) needs to know of them.
import type { JobKind } from '../../../jobs/kind.ts';
import { jobSweeps } from '../../../jobs/sweeps.ts';
import { jobTables } from '../../../jobs/tables.ts';
import { STORAGE_PRICE } from './price.ts';
import { jobRecord } from './record.ts';
import { imagesOf, wantedOf } from './row.ts';

export const imageKind: JobKind = {
  tables: jobTables({ name: 'image', idPrefix: 'img_', madeColumn: 'made' }),
  storagePrice: STORAGE_PRICE,
  events: { completed: 'image.job.completed', failed: 'image.job.failed' },
  unitsOf: (job) => wantedOf(job).n,
  record: jobRecord,
  assetsOf(job) {
    const { image, mask } = wantedOf(job);
    return [...imagesOf(job), ...[image, mask].filter((sent) => sent !== null)].map(({ asset }) => asset);
  },
  emptied: (job) => JSON.stringify({ ...wantedOf(job), prompt: '', image: null, mask: null }),
};

/** Called with the state of a process. */
export const imageSweeps = jobSweeps('image');
