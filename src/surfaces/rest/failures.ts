// Reports a failure: its answer, its log line, and their timing.

import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../../core/process/logger.ts';
import type { Envelope, Identity } from '../../gateway/envelope.ts';
import type { Refusals } from '../../gateway/limits/refusals.ts';
import type { Traffic } from '../../gateway/limits/traffic.ts';
import { toProblem } from '../../gateway/to-problem.ts';
import { traceparentOf } from '../../gateway/trace-context.ts';
import { isDisconnected } from '../../problems/disconnected.ts';
import type { Problem } from '../../problems/problem.ts';
import { answerOf } from '../http/answer.ts';
import { JSON_TYPE } from '../http/headers.ts';
import { answerThenLinger, leavesMuchUnread } from '../http/linger.ts';
import { type CallSlot, identify, slotOf } from './call-slot.ts';
import { BEARER_CHALLENGE, countRaw, finish, headRaw } from './finish.ts';

export interface FailureOptions {
  readonly envelope: () => Envelope;
  readonly traffic: Traffic;
  readonly refusals: Refusals;
  readonly log: Logger;
}

/**
 * Answers the request with the failure; of a client that is refused again and again, a moment later. Only the first failure of a request
 * is told: the rest of a refused body may bring more.
 */
export function fail(options: FailureOptions, request: FastifyRequest, reply: FastifyReply, error: unknown): void {
  const slot = slotOf(request);
  if (slot.refused === true) return;
  slot.refused = true;
  const failure = toProblem(error);
  if (slot.call !== undefined) slot.call.failure = failure;
  const identity: Identity = slot.call ?? slot.raw?.identity ?? identify(request);
  note(options, slot, identity, failure);
  const owner = slot.raw?.principal?.accountId ?? (slot.call?.isIdentified === true ? slot.call.accountId : request.ip);
  // A body that arrives meanwhile would be kept and not counted.
  const heldMs = arrives(request.raw) ? 0 : options.refusals.holdMs(failure, owner);
  if (heldMs === 0) tell(options, request, reply, identity, failure);
  else {
    if (slot.place !== undefined) options.traffic.idle(slot.place);
    setTimeout(() => tell(options, request, reply, identity, failure), heldMs);
  }
}

function arrives({ readableFlowing, complete }: IncomingMessage): boolean {
  return readableFlowing === true && !complete;
}

/** What is refused for being too much, while something is away, or for what others fail at, is one line a second; what nobody foresaw is told one by one. */
export function note({ log, refusals }: FailureOptions, slot: CallSlot, identity: Identity, failure: Problem): void {
  if (failure.httpStatus < 500 || isDisconnected(failure)) return;
  if (failure.httpStatus === 503 || failure.httpStatus === 502) {
    refusals.tell(failure.code, failure.cause);
    return;
  }
  log.error(
    {
      err: failure.cause ?? failure,
      request_id: identity.requestId,
      capability: slot.raw?.name ?? slot.call?.capability,
      code: failure.code,
    },
    'call failed',
  );
}

function tell(
  options: FailureOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  identity: Identity,
  failure: Problem,
): void {
  const slot = slotOf(request);
  const { call } = slot;
  if (failure.httpStatus === 401) void reply.header('www-authenticate', BEARER_CHALLENGE);
  const raw = slot.raw?.refuse(failure) ?? null;
  if (raw !== null) {
    const { body } = raw;
    if (typeof body !== 'string' && !Buffer.isBuffer(body)) throw new TypeError('a refusal is told by text or bytes');
    countRaw(options.traffic, slot, raw.status, body);
    headRaw(slot, reply, raw);
    refuse(options, request, reply, body);
    return;
  }
  // In front of another service an envelope may be anybody's.
  if (slot.raw !== undefined) void reply.header('x-qm-code', failure.code);
  const isProblemJson = request.headers.accept?.includes('application/problem+json') === true;
  const envelope = options.envelope();
  const text = isProblemJson ? envelope.problemJson(identity, failure) : envelope.failure(identity, failure);
  if (call !== undefined) finish(call, reply, failure.httpStatus, text);
  else {
    void reply.code(failure.httpStatus).headers({
      'content-type': JSON_TYPE,
      'x-request-id': identity.requestId,
      traceparent: traceparentOf(identity.traceId),
    });
  }
  if (failure.retryAfterMs !== undefined && (failure.httpStatus === 429 || failure.httpStatus === 503)) {
    void reply.header('retry-after', String(Math.max(1, Math.ceil(failure.retryAfterMs / 1000))));
  }
  if (isProblemJson) void reply.header('content-type', 'application/problem+json; charset=utf-8');
  refuse(options, request, reply, text);
}

/** Sends the answer of a failure. The rest of a large body is not read. */
function refuse(
  { traffic }: FailureOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  text: string | Buffer,
): void {
  // A client that waits is not told to send its body, also where some of it would be read.
  answerOf(reply).asksToGoOn = false;
  if (!leavesMuchUnread(request.raw)) {
    void reply.send(text);
    return;
  }
  const { place } = slotOf(request);
  if (place !== undefined) traffic.idle(place);
  void reply.headers({ connection: 'close', 'content-length': Buffer.byteLength(text) });
  void reply.send(answerThenLinger(request.raw, text));
}
