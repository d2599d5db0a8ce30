// The walk along a chain (contract, vendors §2): what was tried so far says what is next. A request goes on to another vendor only while it is
// certain that none works on it.
import type { FailoverReason, Refused } from '../../vendors/call/port.ts';

/** One place of a chain. `quoteNanos`: what the caller would pay there. */
export interface Place {
  readonly vendor: string;
  readonly model: string;
  readonly quoteNanos: bigint;
}

/** How it went at one place. */
export type Outcome =
  | { readonly kind: 'accepted' }
  | (Pick<Refused, 'kind' | 'reason' | 'message'> & { readonly retryAfterMs?: number })
  /** The vendor may be at work on it. */
  | { readonly kind: 'unknown' };

/** Of a request that was not served by the first of its chain; the shape of `metadata.failover_info`. */
export interface Failover {
  readonly primaryVendor: string;
  readonly primaryModel: string;
  readonly actualModel: string;
  readonly costAtPrimaryNanos: bigint;
  readonly costAtActualNanos: bigint;
  /** Why the first was left. */
  readonly reason: FailoverReason;
  /** How many vendors were left behind, from 1. */
  readonly depth: number;
}

export type Step<P> =
  | { readonly kind: 'try'; readonly place: P; readonly position: number }
  /** `failover`: null when the first of the chain took it, or may have. */
  | { readonly kind: 'accepted' | 'unknown'; readonly place: P; readonly failover: Failover | null }
  /** The code of the error; of several vendors that could not be reached, what the first was left for. */
  | {
      readonly kind: 'failed';
      readonly code: Refused['reason'];
      readonly message: string;
      readonly retryAfterMs?: number;
    };

const LEAVES: ReadonlySet<string> = new Set<FailoverReason>([
  'VENDOR_TIMEOUT',
  'VENDOR_DOWN',
  'RATE_LIMIT_VENDOR',
  'VENDOR_AUTH_ERROR',
]);

/** `outcomes`: of the places tried so far, in the order of the chain; a vendor that is passed over because it is down counts as one. */
export function nextStep<P extends Place>(chain: readonly [P, ...P[]], outcomes: readonly Outcome[]): Step<P> {
  const [primary] = chain;
  const [first] = outcomes;
  for (const [position, outcome] of outcomes.entries()) {
    const place = chain[position];
    if (place === undefined) throw new RangeError('there are more outcomes than places in the chain');
    if (outcome.kind !== 'refused')
      return { kind: outcome.kind, place, failover: failoverOf(primary, first, place, position) };
    if (!LEAVES.has(outcome.reason)) return { kind: 'failed', code: outcome.reason, message: outcome.message };
  }
  const place = chain[outcomes.length];
  if (place !== undefined) return { kind: 'try', place, position: outcomes.length };
  const { reason: code, message, retryAfterMs } = first as Outcome & { kind: 'refused' };
  return { kind: 'failed', code, message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

function failoverOf(primary: Place, first: Outcome | undefined, actual: Place, depth: number): Failover | null {
  if (depth === 0 || first?.kind !== 'refused') return null;
  return {
    primaryVendor: primary.vendor,
    primaryModel: primary.model,
    actualModel: actual.model,
    costAtPrimaryNanos: primary.quoteNanos,
    costAtActualNanos: actual.quoteNanos,
    reason: first.reason as FailoverReason,
    depth,
  };
}
