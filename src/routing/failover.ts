// Failover along a chain of vendors (contract, vendors §2): the outcomes so far decide the next candidate. A request moves to another vendor
// only while it is certain that none is working on it.
import type { FailoverReason, Refused } from '../vendors/call/port.ts';

/** One candidate of a chain. `quoteNanos`: what the caller would pay there. */
export interface Candidate {
  readonly vendor: string;
  readonly model: string;
  readonly quoteNanos: bigint;
}

/** How it went with one candidate. */
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
  | { readonly kind: 'try'; readonly candidate: P; readonly position: number }
  /** `failover`: null when the first of the chain took it, or may have. */
  | { readonly kind: 'accepted' | 'unknown'; readonly candidate: P; readonly failover: Failover | null }
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

/** `outcomes`: of the candidates tried so far, in the order of the chain; a vendor that is passed over because it is down counts as one. */
export function nextStep<P extends Candidate>(chain: readonly [P, ...P[]], outcomes: readonly Outcome[]): Step<P> {
  const [primary] = chain;
  const [first] = outcomes;
  for (const [position, outcome] of outcomes.entries()) {
    const candidate = chain[position];
    if (candidate === undefined) throw new RangeError('there are more outcomes than candidates in the chain');
    if (outcome.kind !== 'refused')
      return { kind: outcome.kind, candidate, failover: failoverOf(primary, first, candidate, position) };
    if (!LEAVES.has(outcome.reason)) return { kind: 'failed', code: outcome.reason, message: outcome.message };
  }
  const candidate = chain[outcomes.length];
  if (candidate !== undefined) return { kind: 'try', candidate, position: outcomes.length };
  const { reason: code, message, retryAfterMs } = first as Outcome & { kind: 'refused' };
  return { kind: 'failed', code, message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

function failoverOf(primary: Candidate, first: Outcome | undefined, actual: Candidate, depth: number): Failover | null {
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
