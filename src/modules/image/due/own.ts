// What of the module's state it takes to work with vendors.
import type { JobHost } from '../../../jobs/kind.ts';
import type { Images } from '../pictures/images.ts';

export interface Own extends Omit<JobHost, 'vendorWork'> {
  readonly images: Images;
}
