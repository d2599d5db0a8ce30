// Refusal for a vendor that cannot reach the video to extend or upscale: no call is sent.
import type { Refused } from '../../../vendors/call/port.ts';

/** Nothing is sent: without what it is made of, another video would be made, and billed. */
export function withoutParent(message: string): Refused {
  return { kind: 'refused', reason: 'VALIDATION_FAILED', breaker: { kind: 'none' }, message, vendorSaid: null };
}

export const NO_PUBLIC_ADDRESS =
  'This vendor fetches the video that it works on from this service, which has no public address.';
