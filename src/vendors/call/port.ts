// Types common to all calls of a vendor: address, timeouts, and the meaning of a failure for the request. A refusal is certain: the vendor
// does not work on the request, so another may.
import type { OutboundClient } from '../http/port.ts';

/** One vendor as one attempt calls it: of the attempt's row, not of today's file. */
export interface VendorCall {
  /** What the operator wrote, without a slash at its end; may be private. It alone gets the key. */
  readonly baseUrl: string;
  /** Null for a vendor that wants none. */
  readonly key: string | null;
  /** `host` or `host:port` where the vendor keeps what it makes; reached without the key, and may be private. */
  readonly assetHosts: readonly string[];
  readonly timeouts: VendorTimeouts;
  readonly outbound: Pick<OutboundClient, 'send'>;
  readonly signal: AbortSignal;
}

export interface VendorTimeouts {
  readonly connectMs: number;
  /** From the last byte sent to the first byte of the answer. */
  readonly submitMs: number;
  readonly pollMs: number;
  readonly downloadMs: number;
  /** Of a download, without a byte. */
  readonly idleMs: number;
}

/** Unless the configuration says otherwise. */
export const vendorTimeouts: VendorTimeouts = {
  connectMs: 5_000,
  submitMs: 30_000,
  pollMs: 15_000,
  downloadMs: 600_000,
  idleMs: 30_000,
};

/** Why a vendor was left for the next one; also the code of the error when all fail. */
export type FailoverReason = 'VENDOR_TIMEOUT' | 'VENDOR_DOWN' | 'RATE_LIMIT_VENDOR' | 'VENDOR_AUTH_ERROR';

/** What an outcome does to the breaker of the vendor. */
export type BreakerEffect =
  | { readonly kind: 'none' }
  | { readonly kind: 'counts' }
  /** No call for so long: the vendor asked for it, or its operator must act first. */
  | { readonly kind: 'waits' | 'opens'; readonly ms: number };

/** The vendor does not work on the request: certain. */
export interface Refused {
  readonly kind: 'refused';
  /** A FailoverReason leads to the next of the chain; everything else ends the request. */
  readonly reason: FailoverReason | 'VALIDATION_FAILED' | 'VENDOR_ERROR' | 'CONTENT_REFUSED';
  readonly breaker: BreakerEffect;
  /** One or two sentences for the caller; never the key, nothing of the operator's account. */
  readonly message: string;
  /** What the vendor said, for an operator who tries it out; the key is cut out. Null when it said nothing. It may quote a prompt: no log has it. */
  readonly vendorSaid: string | null;
}

/** The vendor may be at work on the request, or not: it is submitted nowhere again. */
export interface OutcomeUnknown {
  readonly kind: 'unknown';
  readonly breaker: BreakerEffect;
  readonly message: string;
  readonly vendorSaid: string | null;
}

/** Nothing was sent, for this process stops: the attempt may be given back. */
export interface NotSent {
  readonly kind: 'not_sent';
}
