// The end of a call: counted once, status and headers set.
import type { FastifyReply } from 'fastify';
import type { Call } from '../../gateway/call.ts';
import type { Traffic } from '../../gateway/limits/traffic.ts';
import { traceparentOf } from '../../gateway/trace-context.ts';
import type { RawAnswer } from '../../manifest/raw-route.ts';
import type { CallSlot } from './call-slot.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';
/** What every 401 carries (RFC 6750, section 3). */
export const BEARER_CHALLENGE = 'Bearer realm="quartermaster"';

/** Counts the call once, and sets status and headers of its answer. */
export function finish(call: Call, reply: FastifyReply, status: number): void {
  call.end(status);
  void reply.code(status).headers({
    'content-type': JSON_TYPE,
    'x-request-id': call.requestId,
    traceparent: call.traceparent,
    ...call.headers,
  });
}

/** Counts the request and sets status and headers; answers the body. */
export function finishRaw(traffic: Traffic, slot: CallSlot, reply: FastifyReply, answer: RawAnswer): string | Buffer {
  const { call, raw } = slot;
  const identity = call ?? raw?.identity;
  if (raw === undefined || identity === undefined) throw new Error('the request is not one of a raw route');
  if (typeof answer.body !== 'string' && !Buffer.isBuffer(answer.body))
    throw new TypeError(`the answer of ${raw.name} is neither text nor bytes`);
  if (call === undefined) traffic.record(raw.name, answer.status, performance.now() - identity.startedMs);
  else call.end(answer.status, raw.name);
  void reply.code(answer.status).headers({
    'x-request-id': identity.requestId,
    traceparent: traceparentOf(identity.traceId),
    ...(answer.status === 401 ? { 'www-authenticate': BEARER_CHALLENGE } : {}),
    ...call?.headers,
    ...answer.headers,
  });
  return answer.body;
}
