// Calls the vendors of a chain one after the other until one accepts.

import type { CallContext } from '../core/callers/context.ts';
import type { Core } from '../core/core.ts';
import { disconnectedProblem } from '../problems/disconnected.ts';
import { type Problem, problem } from '../problems/problem.ts';
import type { FailoverReason, NotSent, Refused } from '../vendors/call/port.ts';
import type { Candidate } from './choose.ts';
import { type Failover, nextStep, type Outcome } from './failover.ts';
import type { CallOutcome } from './health.ts';
import type { RoutingPart } from './vendors.ts';

export type Chain = readonly [Candidate, ...Candidate[]];

/** Taken on by this vendor. */
export interface Taken<Reply> {
  readonly candidate: Candidate;
  /** Null: by the first that was asked. */
  readonly failover: Failover | null;
  readonly reply: Reply;
  /** To be told once how the call went in the end. */
  readonly reportOutcome: (outcome: CallOutcome) => void;
}

export const callSucceeded: CallOutcome = { breaker: { kind: 'none' }, reason: null };
/** Nobody waited for its end. */
export const clientDisconnected: CallOutcome = { ...callSucceeded, isUnknown: true, told: 'left' };

/** Throws the Problem of a refusal, or of what the first was left for when nobody takes the call on. */
export async function walk<Reply extends { readonly kind: string }>(
  {
    core,
    capability,
    requestId,
    signal,
  }: Pick<CallContext<RoutingPart & Pick<Core, 'log'>>, 'core' | 'capability' | 'requestId' | 'signal'>,
  chain: Chain,
  ask: (candidate: Candidate) => Promise<Reply | Refused | NotSent>,
): Promise<Taken<Reply>> {
  const outcomes: Outcome[] = [];
  for (;;) {
    const step = nextStep<Candidate>(chain, outcomes);
    if (signal.aborted) throw disconnectedProblem();
    if (step.kind === 'failed') throw failureOf(step.code, step.message, step.retryAfterMs);
    const { candidate } = step;
    const entry = await core.vendors.enter(candidate.row.vendor, capability);
    if (entry.kind === 'pass') {
      const { reason, retryAfterMs } = entry;
      outcomes.push({ kind: 'refused', reason, message: `${candidate.vendor} is not asked at present.`, retryAfterMs });
      continue;
    }
    let outcome: CallOutcome | null = { ...clientDisconnected, told: 'not_sent' };
    try {
      const reply = await ask(candidate);
      if (reply.kind === 'not_sent')
        throw problem('SERVICE_UNAVAILABLE', { message: 'The service stops.', retryAfterMs: 1_000 });
      if (!isRefused(reply)) {
        outcome = null;
        const { failover } = nextStep<Candidate>(chain, [...outcomes, { kind: 'accepted' }]) as {
          failover: Failover | null;
        };
        return { candidate, failover, reply: reply as Reply, reportOutcome: entry.reportOutcome };
      }
      // What fails because its client has left is no failure of the vendor.
      if (signal.aborted) continue;
      outcome = outcomeOf(reply);
      const { reason, message, breaker } = reply;
      // Not the vendor's words: they quote prompts.
      core.log.info(
        { requestId, vendor: candidate.vendor, model: candidate.model, reason },
        'a vendor has not answered a call',
      );
      outcomes.push({
        kind: 'refused',
        reason,
        message,
        ...(breaker.kind === 'waits' ? { retryAfterMs: breaker.ms } : {}),
      });
    } finally {
      if (outcome !== null) entry.reportOutcome(outcome);
    }
  }
}

function isRefused(reply: { readonly kind: string }): reply is Refused {
  return reply.kind === 'refused';
}

const leaves: ReadonlySet<string> = new Set<FailoverReason>([
  'VENDOR_TIMEOUT',
  'VENDOR_DOWN',
  'RATE_LIMIT_VENDOR',
  'VENDOR_AUTH_ERROR',
]);

/** What a failure does to the health of its vendor. */
export function outcomeOf({ breaker, reason }: Refused): CallOutcome {
  return { breaker, reason: leaves.has(reason) ? (reason as FailoverReason) : null, told: reason };
}

/** As the caller is told it. */
export function failureOf(code: Refused['reason'], message: string, retryAfterMs?: number): Problem {
  return problem(code, { message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}

/** Of a vendor that was ended for taking too long. */
export function tooLate(): Refused {
  const message = 'The vendor did not answer in time.';
  return { kind: 'refused', reason: 'VENDOR_TIMEOUT', breaker: { kind: 'counts' }, message, vendorSaid: null };
}
