// What the routes of all modules that speak OpenAI's wire have in common: JSON in, JSON out, and how a failure is told.
import { type Problem, problem } from '../problems/problem.ts';
import type { RawAnswer } from './raw-route.ts';

export function json(body: object, status = 200, headers: Readonly<Record<string, string>> = {}): RawAnswer {
  const own = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  return { status, headers: { ...own, ...headers }, body: JSON.stringify(body) };
}

/** The fields of a body. Throws INVALID_REQUEST. */
export function jsonFields(body: Buffer): Readonly<Record<string, unknown>> {
  let sent: unknown;
  try {
    sent = JSON.parse(body.toString('utf8'));
  } catch {
    throw unreadable('The body is no JSON.');
  }
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) throw unreadable('The body is no JSON object.');
  return sent as Readonly<Record<string, unknown>>;
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

/** As a member `error` of an answer, or of a line of a stream. */
export function errorOf({ httpStatus, code, message }: Problem, param: string | null) {
  const [, type] = types.find(([status]) => httpStatus >= status) as (typeof types)[number];
  return { message, type, param, code };
}

/** `further`: beside `error`. The official client repeats 409 and 5xx by itself unless it is told not to. */
export function refusal(failure: Problem, param: string | null, further: object = {}): RawAnswer {
  const { httpStatus, retryable, retryAfterMs } = failure;
  const wait = retryAfterMs ?? null;
  return json({ error: errorOf(failure, param), ...further }, httpStatus, {
    ...(wait === null
      ? {}
      : { 'retry-after': String(Math.max(1, Math.ceil(wait / 1_000))), 'retry-after-ms': String(wait) }),
    ...(retryable ? {} : { 'x-should-retry': 'false' }),
  });
}
