// Finishes a call: counts it once and sets status and headers.

import type { FastifyReply } from 'fastify';
import type { Call } from '../../gateway/call.ts';
import type { Traffic } from '../../gateway/limits/traffic.ts';
import { traceparentOf } from '../../gateway/trace-context.ts';
import type { RawAnswer } from '../../kit/raw-route.ts';
import { answerOf } from '../http/answer.ts';
import { JSON_TYPE } from '../http/headers.ts';
import { closedHeaders } from '../http/origin.ts';
import type { CallSlot } from './call-slot.ts';

/** What every 401 carries (RFC 6750, section 3). */
export const BEARER_CHALLENGE = 'Bearer realm="quartermaster"';

/** Counts the call once, and sets status and headers of its answer, which is `text`. */
export function finish(call: Call, reply: FastifyReply, status: number, text: string | null = null): void {
  call.end(status, text);
  void reply.code(status).headers({
    'content-type': JSON_TYPE,
    'x-request-id': call.requestId,
    traceparent: call.traceparent,
    ...call.headers,
  });
}

/** Counts the request of a raw route, once. */
export function countRaw(
  traffic: Traffic,
  { call, raw }: CallSlot,
  status: number,
  text: string | Buffer | null = null,
): void {
  if (raw === undefined) throw new Error('the request is not one of a raw route');
  if (call === undefined) traffic.record(raw.name, status, performance.now() - raw.identity.startedMs);
  else call.end(status, text, raw.name);
}

/** Sets status and headers of the answer of a raw route. */
export function headRaw({ call, raw }: CallSlot, reply: FastifyReply, answer: Omit<RawAnswer, 'body'>): void {
  const identity = call ?? raw?.identity;
  if (identity === undefined) throw new Error('the request is not one of a raw route');
  void reply.code(answer.status).headers({
    'x-request-id': identity.requestId,
    traceparent: call?.traceparent ?? traceparentOf(identity.traceId),
    ...(answer.status === 401 ? { 'www-authenticate': BEARER_CHALLENGE } : {}),
    // What has not been read of a long body is not read any more.
    ...(answerOf(reply).takesLong && !reply.request.raw.complete ? { connection: 'close' } : {}),
    ...call?.headers,
    ...raw?.headers,
    ...closedHeaders(answer),
    ...answer.headers,
  });
}
