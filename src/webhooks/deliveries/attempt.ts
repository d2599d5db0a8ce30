// One attempt: the event as a signed POST, by Standard Webhooks (contract of webhooks), and its result.

import { signedHeaders } from '../../core/outbound/signature.ts';
import { maskHeaders } from '../../core/outbound/target-headers.ts';
import type { OutboundClient, OutboundOutcome } from '../../vendors/http/port.ts';
import type { DeliveryTarget } from '../registrations/store.ts';

const SNIPPET_CHARACTERS_MAX = 1_024;
const MASKED_SIGNATURE = 'v1,****';

export interface AttemptRequest {
  readonly target: DeliveryTarget;
  /** webhook-id: the same on every attempt and every repeat of an event. */
  readonly eventId: string;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** What the delivery's record keeps of an attempt. */
export interface AttemptResult {
  /** refused: the address may not be reached. gone: the receiver answered 410. aborted: this process stops. postponed: no attempt was made. */
  readonly verdict: 'succeeded' | 'failed' | 'refused' | 'gone' | 'aborted' | 'postponed';
  readonly httpStatus: number | null;
  readonly errorCode: string | null;
  readonly latencyMs: number;
  readonly snippet: string | null;
  readonly retryAfter: string | null;
  /** JSON object of the headers sent, masked. */
  readonly requestHeaders: string;
}

/** Sends once. Never rejects for what a receiver does. */
export async function attemptDelivery(outbound: OutboundClient, request: AttemptRequest): Promise<AttemptResult> {
  const { target, eventId, body, signal } = request;
  // The time that receivers compare with theirs: the process clock, also when a test clock has moved the database's.
  const signed = signedHeaders({ id: eventId, timestampMs: Date.now(), body }, target.signingSecrets);
  const outcome = await outbound.post({
    url: target.url,
    headers: { ...target.headers, ...signed },
    body,
    signal,
    timeoutMs: target.timeoutSeconds * 1_000,
  });
  const shown = { ...maskHeaders(target.headers), ...signed, 'webhook-signature': MASKED_SIGNATURE };
  return { ...resultOf(outcome), latencyMs: Math.round(outcome.latencyMs), requestHeaders: JSON.stringify(shown) };
}

function resultOf(outcome: OutboundOutcome): Omit<AttemptResult, 'requestHeaders' | 'latencyMs'> {
  if (outcome.kind === 'failed') {
    const verdict = outcome.code === 'refused' || outcome.code === 'aborted' ? outcome.code : 'failed';
    return { verdict, httpStatus: null, errorCode: outcome.code, snippet: null, retryAfter: null };
  }
  const { status, retryAfter } = outcome;
  const verdict = status >= 200 && status < 300 ? 'succeeded' : status === 410 ? 'gone' : 'failed';
  const errorCode = verdict === 'succeeded' ? null : 'http_status';
  return { verdict, httpStatus: status, errorCode, snippet: storable(outcome.snippet), retryAfter };
}

/** Whether an attempt was made that says something of its receiver. */
export function isMade({ verdict }: Pick<AttemptResult, 'verdict'>): boolean {
  return verdict !== 'aborted' && verdict !== 'postponed';
}

/** PostgreSQL takes neither NUL nor lone surrogates, and receivers answer anything. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').slice(0, SNIPPET_CHARACTERS_MAX).toWellFormed();
}
