// A vendor that cannot get at the video that it is to extend or enlarge is not asked.
import type { Refused } from '../../../vendors/call/port.ts';

/** Nothing is sent: without what it is made of, another video would be made, and billed. */
export function withoutParent(message: string): Refused {
  return { kind: 'refused', reason: 'VALIDATION_FAILED', breaker: { kind: 'none' }, message, vendorSaid: null };
}

export const NO_PUBLIC_ADDRESS =
  'This vendor fetches the video that it works on from this service, which has no public address.';
