// The part of the module's state that vendor work needs.
import type { JobHost } from '../../../jobs/kind.ts';
import type { Images } from '../pictures/images.ts';

export interface Own extends Omit<JobHost, 'vendorWork'> {
  readonly images: Images;
}
