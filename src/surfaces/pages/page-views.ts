// Rate limit by network on views of pages that need no session.
import { AddressRate } from '../../core/address-rate.ts';
import type { Admission } from '../../core/admission.ts';

export class PageViews extends AddressRate {
  constructor({ address: { pagesPerMinute, addressesMax } }: Admission) {
    super(pagesPerMinute, addressesMax);
  }
}
