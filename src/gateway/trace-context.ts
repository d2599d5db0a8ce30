// W3C Trace Context: a call continues the caller's trace, or starts a new one.
import type { IncomingHttpHeaders } from 'node:http';
import type { SpanContext } from '../core/tracing/tracing.ts';
import { randomHex } from '../lib/random-hex.ts';

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

const SAMPLED = 1;

/** The trace id of a valid `traceparent` header, else a new one. */
export function traceIdOf(headers: IncomingHttpHeaders): string {
  return callerSpan(headers.traceparent)?.traceId ?? randomHex(16);
}

/** What a `traceparent` header says of the caller's span; null: it is not valid. */
export function callerSpan(traceparent: unknown): SpanContext | null {
  const [, traceId, spanId, flags] = (typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent) : null) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** The header of an answer: the trace with a span of its own. */
export function traceparentOf(traceId: string): string {
  return `00-${traceId}-${randomHex(8)}-01`;
}
