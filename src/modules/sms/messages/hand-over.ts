// Hand-over of a message to its carriers in turn. The message is marked as sending, durably, before the first byte leaves. A message that a
// carrier may already have is never handed to another.

import type { Services } from '../../../kit/services.ts';
import type { Coalescer } from '../../../lib/coalesce.ts';
import { type Failover, nextStep, type Outcome } from '../../../routing/failover.ts';
import type { CallOutcome } from '../../../routing/health.ts';
import type { BreakerEffect, FailoverReason, Refused } from '../../../vendors/call/port.ts';
import { SANDBOX } from '../../../vendors/file/port.ts';
import { SEND } from '../carriers/family.ts';
import type { Carrier, SubmitOutcome } from '../carriers/port.ts';
import { stoppedFrom } from './opt-outs.ts';
import { chainOf, type Link, type MessageRow } from './row.ts';
import type { Marking } from './store.ts';

export interface HandOverHost {
  readonly core: Services;
  readonly carriers: ReadonlyMap<string, Carrier>;
  readonly marks: Coalescer<Marking, boolean>;
}

/** How it went, with the carrier that has the message; `failover`: when that is not the first. */
export type HandOver =
  | {
      readonly kind: 'accepted';
      readonly link: Link;
      readonly references: readonly string[];
      readonly captured: boolean;
      readonly failover: Failover | null;
    }
  | { readonly kind: 'unknown'; readonly link: Link; readonly failover: Failover | null }
  | {
      readonly kind: 'failed';
      readonly link: Link;
      /** Of the error. */
      readonly code: Refused['reason'];
      /** What the carrier calls it. */
      readonly errorCode: string | null;
      readonly message: string;
      readonly retryAfterMs: number | undefined;
    };

const NO_EFFECT: BreakerEffect = { kind: 'none' };

/** `text`: with the code, if it carries one. Throws when another step has the message. */
export async function handOver(
  host: HandOverHost,
  row: MessageRow,
  text: string,
  signal: AbortSignal,
): Promise<HandOver> {
  const chain = chainOf(row).map((link) => ({ ...link, quoteNanos: BigInt(link.nanos) })) as [Quoted, ...Quoted[]];
  const outcomes: Outcome[] = [];
  let last: Came | null = null;
  for (;;) {
    const step = nextStep(chain, outcomes);
    if (step.kind === 'try') {
      last = await submitTo(host, row, step.candidate, text, signal);
      outcomes.push(last);
      continue;
    }
    if (step.kind !== 'failed') {
      const { candidate: link, failover } = step;
      return last?.kind === 'accepted' ? { ...last, link, failover } : { kind: 'unknown', link, failover };
    }
    const { code, message, retryAfterMs } = step;
    const errorCode = last?.kind === 'refused' ? last.errorCode : null;
    return { kind: 'failed', link: chain[outcomes.length - 1] ?? chain[0], code, errorCode, message, retryAfterMs };
  }
}

type Quoted = Link & { readonly quoteNanos: bigint };

type Came =
  | Extract<SubmitOutcome, { kind: 'accepted' }>
  | { readonly kind: 'unknown' }
  | (Extract<Outcome, { kind: 'refused' }> & { readonly errorCode: string | null });

async function submitTo(
  host: HandOverHost,
  row: MessageRow,
  link: Link,
  text: string,
  signal: AbortSignal,
): Promise<Came> {
  const { core, carriers } = host;
  const vendor = core.vendors.row(link.vendor, link.model)?.vendor;
  const carrier = carriers.get(link.vendor);
  if (vendor === undefined || carrier === undefined || vendor.disabled !== null)
    return down('The carrier is not configured any more.');
  if (await isStopped(core, row, link)) return optedOut;
  if (vendor.id === SANDBOX) {
    await mark(host, row, link);
    return handOverOutcome(await carrier.submit(messageOf(row, link, text), signal));
  }
  const admitted = await core.vendors.enter(vendor, SEND);
  if (admitted.kind === 'pass') {
    const { reason, retryAfterMs } = admitted;
    return {
      kind: 'refused',
      reason,
      message: 'The carrier takes no message at present.',
      retryAfterMs,
      errorCode: null,
    };
  }
  let outcome: SubmitOutcome | null = null;
  try {
    await mark(host, row, link);
    outcome = await carrier.submit(messageOf(row, link, text), signal);
  } finally {
    admitted.reportOutcome(endingOf(outcome));
  }
  return handOverOutcome(outcome);
}

function endingOf(outcome: SubmitOutcome | null): CallOutcome {
  if (outcome === null || outcome.kind === 'not_sent') return { breaker: NO_EFFECT, reason: null, isUnknown: true };
  if (outcome.kind === 'accepted') return { breaker: NO_EFFECT, reason: null };
  if (outcome.kind === 'unknown') return { breaker: outcome.breaker, reason: null };
  const { breaker, reason } = outcome;
  return { breaker, reason: failoverReasonOf(reason), told: reason };
}

function failoverReasonOf(reason: Refused['reason']): FailoverReason | null {
  return reason === 'VALIDATION_FAILED' || reason === 'VENDOR_ERROR' || reason === 'CONTENT_REFUSED' ? null : reason;
}

function handOverOutcome(outcome: SubmitOutcome): Came {
  switch (outcome.kind) {
    case 'accepted':
      return outcome;
    case 'unknown':
      return { kind: 'unknown' };
    case 'not_sent':
      return down('The service is stopping.');
    case 'refused': {
      const { reason, message, code, breaker } = outcome;
      const wait = breaker.kind === 'waits' ? { retryAfterMs: breaker.ms } : {};
      return { kind: 'refused', reason, message, errorCode: code, ...wait };
    }
  }
}

async function mark({ marks }: HandOverHost, row: MessageRow, { vendor, from }: Link): Promise<void> {
  const isOurs = await marks.add(row.account_id, { smsId: row.sms_id, attempt: row.attempt, vendor, from });
  if (!isOurs) throw new Error(`another step has the message ${row.sms_id}`);
}

/** Looked at again: the person may have written meanwhile. */
async function isStopped(core: Services, row: MessageRow, { vendor, from }: Link): Promise<boolean> {
  const sandboxOf = vendor === SANDBOX ? row.account_id : null;
  return (await stoppedFrom(core.db, sandboxOf, [from], row.to_number)).has(from);
}

function messageOf(row: MessageRow, { from }: Link, text: string) {
  return { smsId: row.sms_id, accountId: row.account_id, to: row.to_number, from, text };
}

function down(message: string): Came {
  return { kind: 'refused', reason: 'VENDOR_DOWN', message, errorCode: null };
}

const optedOut: Came = {
  kind: 'refused',
  reason: 'VENDOR_ERROR',
  message: 'The number has sent STOP to this sender.',
  errorCode: 'opted_out',
};
