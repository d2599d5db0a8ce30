// In-process state of the storage module: the link signer and the background loops.
import { AddressRate } from '../../core/address-rate.ts';
import { admission } from '../../core/admission.ts';
import type { JobLoop } from '../../core/background/job-loop.ts';
import type { Services } from '../../kit/services.ts';
import { expiryLoop } from './buckets/expiry.ts';
import { heldLoop } from './held-loop.ts';
import { ObjectLinks } from './links.ts';
import { noticeLoop } from './notices.ts';
import type { StorageSettings } from './settings.ts';

export interface StorageState {
  readonly core: Services;
  readonly links: ObjectLinks;
  /** Of pages that name a bucket and no key. */
  readonly crossOrigin: AddressRate;
}

export interface StartedStorage extends StorageState {
  readonly loops: readonly JobLoop[];
}

export function startStorage(core: Services, settings: StorageSettings): StartedStorage {
  const { crossOriginPerMinute, addressesMax } = admission.address;
  return {
    core,
    links: new ObjectLinks(core),
    crossOrigin: new AddressRate(crossOriginPerMinute, addressesMax),
    loops: [expiryLoop(core), heldLoop(core, settings), noticeLoop(core)],
  };
}
