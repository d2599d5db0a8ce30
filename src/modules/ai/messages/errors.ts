// Errors of Anthropic's Messages wire: {"type": "error", "error": {"type", "message"}, "request_id"}, with our code and field beside.
import { json } from '../../../kit/openai-wire.ts';
import type { RawAnswer, RawHead } from '../../../kit/raw-route.ts';
import type { Problem } from '../../../problems/problem.ts';
import { failureMetadata } from '../openai/answer.ts';

const types: readonly (readonly [status: number, type: string])[] = [
  [504, 'timeout_error'],
  [500, 'api_error'],
  [429, 'rate_limit_error'],
  [413, 'request_too_large'],
  [404, 'not_found_error'],
  [403, 'permission_error'],
  [402, 'billing_error'],
  [401, 'authentication_error'],
  [0, 'invalid_request_error'],
];
const EXACT: ReadonlySet<number> = new Set([504, 413, 404, 403, 402, 401]);

/** Before the words of a vendor that refuses a request: programs look for the words as the vendor says them. */
const REFUSED = 'The vendor refuses the request: ';

/** The body of a failure. */
export function errorBody(failure: Problem, requestId: string, metadata: object | null): object {
  const { httpStatus, code, param, retryAfterMs } = failure;
  const [, type] = types.find(([status]) => (EXACT.has(status) ? httpStatus === status : httpStatus >= status)) as [
    number,
    string,
  ];
  const error = {
    type,
    message: messageOf(failure),
    code,
    ...(param === undefined ? {} : { param }),
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: Math.ceil(retryAfterMs) }),
  };
  return { type: 'error', error, request_id: requestId, ...(metadata === null ? {} : { service_metadata: metadata }) };
}

/** It names the field: many programs show nothing else. */
function messageOf({ message, param }: Problem): string {
  if (message.startsWith(REFUSED)) return message.slice(REFUSED.length);
  return param === undefined || message.includes(param) ? message : `${param}: ${message}`;
}

/** 529 is never ours: its clients take it for the vendor's. */
export function refuseMessage(failure: Problem, head: RawHead): RawAnswer {
  const { httpStatus, retryable, retryAfterMs } = failure;
  const wait = retryAfterMs === undefined ? null : Math.ceil(retryAfterMs);
  return json(errorBody(failure, head.requestId, failureMetadata(head)), httpStatus, {
    'request-id': head.requestId,
    ...(wait === null
      ? {}
      : { 'retry-after': String(Math.max(1, Math.ceil(wait / 1_000))), 'retry-after-ms': String(wait) }),
    ...(retryable ? {} : { 'x-should-retry': 'false' }),
  });
}
