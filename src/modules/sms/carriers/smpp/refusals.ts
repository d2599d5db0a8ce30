// Meaning of SMPP error statuses for a message (SMPP 3.4, §5.1.3): every one is a refusal.
import type { BreakerEffect, Refused } from '../../../../vendors/call/port.ts';

const NONE: BreakerEffect = { kind: 'none' };
const BUSY: BreakerEffect = { kind: 'waits', ms: 2_000 };
const COUNTS: BreakerEffect = { kind: 'counts' };

interface Meaning {
  readonly reason: Refused['reason'];
  readonly breaker: BreakerEffect;
  readonly message: string;
}

const invalid = (what: string): Meaning => ({
  reason: 'VALIDATION_FAILED',
  breaker: NONE,
  message: `The carrier refuses the message: ${what}.`,
});
const MEANINGS: Readonly<Record<number, Meaning>> = {
  4: { reason: 'VENDOR_DOWN', breaker: COUNTS, message: 'The carrier takes no messages on this session.' },
  8: { reason: 'VENDOR_DOWN', breaker: COUNTS, message: 'The carrier has a fault.' },
  10: invalid('its sender is not allowed'),
  11: invalid('its number is not valid'),
  20: { reason: 'RATE_LIMIT_VENDOR', breaker: BUSY, message: 'The carrier takes no more messages for now.' },
  88: { reason: 'RATE_LIMIT_VENDOR', breaker: BUSY, message: 'The carrier takes no more messages for now.' },
};
const OTHER: Meaning = { reason: 'VENDOR_ERROR', breaker: NONE, message: 'The carrier refuses the message.' };

export function refusalOf(status: number): Refused & { readonly code: string } {
  return {
    kind: 'refused',
    ...(MEANINGS[status] ?? OTHER),
    vendorSaid: null,
    code: `smpp_0x${status.toString(16).padStart(2, '0')}`,
  };
}
