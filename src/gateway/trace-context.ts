// W3C Trace Context: a call continues the caller's trace, or begins one.
import type { IncomingHttpHeaders } from 'node:http';
import { randomHex } from '../lib/random-hex.ts';

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

/** The trace id of a valid `traceparent` header, else a new one. */
export function traceIdOf(headers: IncomingHttpHeaders): string {
  const { traceparent } = headers;
  const match = typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent) : null;
  return match?.[1] ?? randomHex(16);
}

/** The header of an answer: the trace with a span of its own. */
export function traceparentOf(traceId: string): string {
  return `00-${traceId}-${randomHex(8)}-01`;
}
