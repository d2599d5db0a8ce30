// Judges a failed call: whether the vendor certainly does not work on the request, why, and the effect on its breaker. One table serves all
// vendors; an adapter only tells how to read its vendor's error body.
import type { OutboundFailure } from '../http/port.ts';
import type { BreakerEffect, NotSent, OutcomeUnknown, Refused } from './port.ts';

/** What came back. */
export type VendorReply =
  /** `sent`: something of the request may have reached the vendor. */
  | { readonly kind: 'failed'; readonly code: OutboundFailure; readonly sent: boolean; readonly message: string }
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly retryAfterMs: number | null;
      /** The answer's JSON; undefined when it was none, or did not come to its end. */
      readonly body: unknown;
    };

type Meaning = 'content' | 'funds' | 'auth' | 'busy' | 'invalid' | 'down';

/** How a vendor's words are understood: the first pattern that fits decides. */
export type Meanings = readonly (readonly [Meaning, RegExp])[];

export function meaningOf(meanings: Meanings, words: string): Meaning | null {
  return meanings.find(([, pattern]) => pattern.test(words))?.[0] ?? null;
}

/** An error body, read by the adapter of the vendor that sent it. */
export interface VendorError {
  /** The vendor's words. */
  readonly said: string;
  /** What the vendor's codes say beyond the status; null when they say no more. */
  readonly means: Meaning | null;
}

export interface Circumstances {
  /** After a submitted job's lost answer the vendor may work on; a lost answer that was awaited is just lost. */
  readonly awaits: 'job' | 'answer';
  /** Cut out of everything that the vendor said. */
  readonly key: string | null;
}

const NONE: BreakerEffect = { kind: 'none' };
const COUNTS: BreakerEffect = { kind: 'counts' };
const AUTH_OPEN_MS = 5 * 60_000;
const BUSY_WAIT_MS = 10_000;
/** A vendor that asks for more is asked again after this. */
const BUSY_WAIT_MAX_MS = 60 * 60_000;
const SAID_CHARACTERS_MAX = 500;

/**
 * Judges a reply that is no success.
 * @param error the vendor's error body as the adapter read it; null when the body is not the vendor's.
 */
export function judge(
  reply: VendorReply,
  error: VendorError | null,
  { awaits, key }: Circumstances,
): Refused | OutcomeUnknown | NotSent {
  const vendorSaid = error === null ? null : plain(error.said, key);
  const verdict = reply.kind === 'failed' ? ofFailure(reply) : ofAnswer(reply, error);
  if (verdict === 'not_sent') return { kind: 'not_sent' };
  if (verdict.reason !== 'unknown') {
    return {
      kind: 'refused',
      ...verdict,
      reason: verdict.reason,
      message: messageOf(verdict.reason, vendorSaid),
      vendorSaid,
    };
  }
  if (awaits === 'job') return { kind: 'unknown', breaker: verdict.breaker, message: UNKNOWN, vendorSaid };
  const reason = verdict.late ? 'VENDOR_TIMEOUT' : 'VENDOR_DOWN';
  return { kind: 'refused', reason, breaker: verdict.breaker, message: MESSAGES[reason], vendorSaid };
}

type Reason = Refused['reason'];
type Verdict =
  | { readonly reason: Reason; readonly breaker: BreakerEffect }
  /** `late`: the vendor took too long, or says that one behind it did. */
  | { readonly reason: 'unknown'; readonly breaker: BreakerEffect; readonly late: boolean };

function ofFailure({ code, sent }: Extract<VendorReply, { kind: 'failed' }>): Verdict | 'not_sent' {
  const late = code === 'timeout';
  if (sent) return { reason: 'unknown', breaker: code === 'aborted' ? NONE : COUNTS, late };
  if (code === 'aborted') return 'not_sent';
  return { reason: late ? 'VENDOR_TIMEOUT' : 'VENDOR_DOWN', breaker: COUNTS };
}

function ofAnswer(reply: Extract<VendorReply, { kind: 'answered' }>, error: VendorError | null): Verdict {
  return ofMeaning(error?.means ?? null, reply) ?? ofStatus(reply.status, error !== null);
}

/** What the vendor's codes or the plainest statuses say, whatever else stands there. */
function ofMeaning(
  means: VendorError['means'],
  { status, retryAfterMs }: { readonly status: number; readonly retryAfterMs: number | null },
): Verdict | null {
  if (means === 'content') return { reason: 'CONTENT_REFUSED', breaker: NONE };
  if (means === 'funds' || means === 'auth' || [401, 402, 403].includes(status)) {
    return { reason: 'VENDOR_AUTH_ERROR', breaker: { kind: 'opens', ms: AUTH_OPEN_MS } };
  }
  if (means === 'busy' || status === 429) {
    const ms = Math.min(retryAfterMs ?? BUSY_WAIT_MS, BUSY_WAIT_MAX_MS);
    return { reason: 'RATE_LIMIT_VENDOR', breaker: { kind: 'waits', ms } };
  }
  if (means === 'down' && status < 500) return { reason: 'VENDOR_DOWN', breaker: COUNTS };
  if (means === 'invalid' && status < 500) return { reason: 'VALIDATION_FAILED', breaker: NONE };
  return null;
}

function ofStatus(status: number, isVendors: boolean): Verdict {
  // The vendor's own body says that it refused; a proxy's says nothing about what stands behind it.
  if (isVendors && [500, 503, 529].includes(status)) return { reason: 'VENDOR_DOWN', breaker: COUNTS };
  if (status >= 500) return { reason: 'unknown', breaker: COUNTS, late: status === 504 || status === 524 };
  // Accepted, it seems, and yet nothing to ask for it by.
  if (status < 300 && !isVendors) return { reason: 'unknown', breaker: COUNTS, late: false };
  if (isVendors && (status === 400 || status === 422)) return { reason: 'VALIDATION_FAILED', breaker: NONE };
  return { reason: 'VENDOR_ERROR', breaker: NONE };
}

const UNKNOWN = 'It is not known whether the vendor took the request: its answer was lost.';
const MESSAGES: Readonly<Record<Reason, string>> = {
  VENDOR_TIMEOUT: 'The vendor did not answer in time.',
  VENDOR_DOWN: 'The vendor cannot be reached, or fails.',
  RATE_LIMIT_VENDOR: 'The vendor takes no more requests for now.',
  VENDOR_AUTH_ERROR: "The vendor refuses the operator's account.",
  VALIDATION_FAILED: 'The vendor refuses the request',
  VENDOR_ERROR: 'The vendor refuses the request.',
  CONTENT_REFUSED: 'The vendor refuses the content of the request',
};

/** Only what the caller can mend is told in the vendor's words, behind a colon: the request log leaves them out. */
function messageOf(reason: Reason, vendorSaid: string | null): string {
  const message = MESSAGES[reason];
  if (message.endsWith('.')) return message;
  return vendorSaid === null || vendorSaid === '' ? `${message}.` : `${message}: ${vendorSaid}`;
}

/** What a vendor said, on one line, short, without the key and without addresses. */
export function plain(said: string, key: string | null): string {
  const keyless = key === null || key === '' ? said : said.replaceAll(key, '[key]');
  return keyless
    .slice(0, 4 * SAID_CHARACTERS_MAX)
    .replace(/https?:\/\/\S+/gi, '[url]')
    .replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ')
    .trim()
    .slice(0, SAID_CHARACTERS_MAX)
    .toWellFormed();
}
