// Shared code of all routes that speak OpenAI's wire format: JSON in, JSON out, and the format of errors.
import { isUtf8 } from 'node:buffer';
import { type Problem, problem } from '../problems/problem.ts';
import type { RawAnswer } from './raw-route.ts';

/** `body`: a text is JSON already. */
export function json(body: object | string, status = 200, headers: Readonly<Record<string, string>> = {}): RawAnswer {
  const own = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, headers: { ...own, ...headers }, body: text };
}

/** The fields of a body. Throws MALFORMED_JSON, INVALID_REQUEST. */
export function jsonFields(body: Buffer): Readonly<Record<string, unknown>> {
  if (!isUtf8(body)) throw problem('MALFORMED_JSON', { message: 'The body is not valid UTF-8.' });
  const sent = parse(body.toString('utf8'));
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent))
    throw problem('INVALID_REQUEST', { message: 'The body must be a JSON object.', detail: 'body_type' });
  return sent as Readonly<Record<string, unknown>>;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw problem('MALFORMED_JSON', { message: 'The body is not valid JSON.', cause });
  }
}

export function unreadable(message: string): Problem {
  return problem('INVALID_REQUEST', { message });
}

const types: readonly (readonly [status: number, type: string])[] = [
  [500, 'server_error'],
  [429, 'rate_limit_error'],
  [404, 'invalid_request_error'],
  [403, 'permission_error'],
  [402, 'insufficient_quota'],
  [401, 'authentication_error'],
  [0, 'invalid_request_error'],
];

/** As a member `error` of an answer, or of a line of a stream. `retry_after_ms` beside what the wire knows, as in the envelope. */
export function errorOf({ httpStatus, code, message, retryAfterMs, approval }: Problem, param: string | null) {
  const [, type] = types.find(([status]) => httpStatus >= status) as (typeof types)[number];
  return {
    message,
    type: code === 'APPROVAL_REQUIRED' ? 'approval_required' : type,
    param,
    code,
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: Math.ceil(retryAfterMs) }),
    ...(approval === undefined ? {} : { approval }),
  };
}

/** `further`: beside `error`. The official client repeats 409 and 5xx by itself unless it is told not to. */
export function refusal(failure: Problem, param: string | null, further: object = {}): RawAnswer {
  const { httpStatus, retryable, retryAfterMs } = failure;
  const wait = retryAfterMs === undefined ? null : Math.ceil(retryAfterMs);
  return json({ error: errorOf(failure, param), ...further }, httpStatus, {
    ...(wait === null
      ? {}
      : { 'retry-after': String(Math.max(1, Math.ceil(wait / 1_000))), 'retry-after-ms': String(wait) }),
    ...(retryable ? {} : { 'x-should-retry': 'false' }),
  });
}
