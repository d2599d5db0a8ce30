// Answers to Sentry SDKs. They read the status, two headers and the id; browsers also need CORS headers.
import type { RawAnswer, RawHead } from '../../../kit/raw-route.ts';
import { sharedProblems } from '../../../problems/catalogue.ts';
import type { Problem } from '../../../problems/problem.ts';
import { BACK_OFF_MS_MAX, NO_CREDIT_BACK_OFF_MS } from './numbers.ts';

/** What pages may send and read. */
export const access = {
  headers:
    'X-Sentry-Auth, Content-Type, Content-Encoding, Authorization, X-Requested-With, Origin, Accept, sentry-trace, baggage, traceparent',
  exposed: 'X-Sentry-Error, X-Sentry-Rate-Limits, Retry-After',
};
const json = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
export const KEY_LINE = 'qm keys create --account ACCOUNT_ID --name sentry --scopes errors.capture,errors.message';

/** `id` is the one that the SDK gave the event; null for an envelope without an event. */
export function acceptedAnswer(id: string | null, costNanos?: bigint): RawAnswer {
  const body = JSON.stringify(id === null ? {} : { id });
  return { status: 200, headers: json, body, ...(costNanos === undefined ? {} : { costNanos }) };
}

/** A refusal in the form that SDKs know. No SDK knows 402: it is told as 429, which makes each of them hold back. */
export function refusal(failure: Problem, { requestId }: RawHead): RawAnswer {
  const status = failure.httpStatus === 402 ? 429 : failure.httpStatus;
  const waitMs = backOffMs(failure, status);
  const detail = sentence(failure);
  return {
    status,
    headers: {
      ...json,
      'x-sentry-error': detail.replaceAll(/[^\x20-\x7e]/g, '?'),
      ...(waitMs === null ? {} : waitHeaders(status, waitMs, failure.code)),
    },
    body: JSON.stringify({
      detail,
      causes: [],
      code: failure.code,
      code_detail: failure.detail,
      param: failure.param,
      request_id: requestId,
    }),
  };
}

/** For a 429 also which events to hold back: of every kind. */
function waitHeaders(status: number, waitMs: number, code: string): Record<string, string> {
  const seconds = String(Math.max(1, Math.ceil(waitMs / 1000)));
  if (status !== 429) return { 'retry-after': seconds };
  return { 'retry-after': seconds, 'x-sentry-rate-limits': `${seconds}::organization:${code.toLowerCase()}` };
}

function backOffMs({ code, retryAfterMs, shortfall }: Problem, status: number): number | null {
  if (code === 'INSUFFICIENT_CREDIT')
    return Math.min(shortfall?.windowLeftMs ?? NO_CREDIT_BACK_OFF_MS, BACK_OFF_MS_MAX);
  return status === 429 || status === 503 ? (retryAfterMs ?? NO_CREDIT_BACK_OFF_MS) : null;
}

function sentence({ code, message }: Problem): string {
  if (code === 'INTERNAL_ERROR') return sharedProblems.INTERNAL_ERROR.title;
  if (code !== 'INSUFFICIENT_SCOPE') return message;
  return (
    'The key in a DSN can be read by whoever has the program: it must have the scope errors.capture, may have errors.message, ' +
    `and nothing else. Make one with: ${KEY_LINE}`
  );
}
