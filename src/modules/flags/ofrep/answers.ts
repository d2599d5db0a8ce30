// How OFREP tells evaluations and failures, to programs and to pages.
import type { RawAnswer, RawHead } from '../../../kit/raw-route.ts';
import { sharedProblems } from '../../../problems/catalogue.ts';
import type { Problem } from '../../../problems/problem.ts';
import type { Evaluation } from '../serving/evaluate.ts';

/** Any page may ask; the key decides, and no cookie is looked at. */
export const open = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Retry-After, X-Request-Id',
};

export const preflight: RawAnswer = {
  status: 204,
  headers: {
    ...open,
    'access-control-allow-methods': 'GET, POST, OPTIONS',
    'access-control-allow-headers':
      'Authorization, Content-Type, If-None-Match, Last-Event-ID, Cache-Control, traceparent',
    'access-control-max-age': '86400',
  },
  body: '',
};

export function json(status: number, body: string, headers: Readonly<Record<string, string>> = {}): RawAnswer {
  const plain = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  return { status, headers: { ...open, ...plain, ...headers }, body };
}

const details: Readonly<Record<string, string>> = {
  FLAG_NOT_FOUND: 'There is no flag with this key.',
  GENERAL: 'The rule does not answer the name of a variant.',
  PARSE_ERROR: 'The rule cannot be read.',
};

/** Without a value the code that asks uses its own default. */
export function evaluationText({ key, value, variant, reason, errorCode, metadata }: Evaluation): string {
  const name = JSON.stringify(key);
  if (errorCode !== null)
    return `{"key":${name},"errorCode":"${errorCode}","errorDetails":${JSON.stringify(details[errorCode] ?? errorCode)}}`;
  const chosen = value === null ? '' : `"value":${value},"variant":${JSON.stringify(variant)},`;
  return `{"key":${name},${chosen}"reason":"${reason}","metadata":${metadata}}`;
}

export function statusOf({ errorCode }: Evaluation): number {
  if (errorCode === null) return 200;
  return errorCode === 'FLAG_NOT_FOUND' ? 404 : 400;
}

/** Bodies as OFREP has them, with our code and the request's id beside. */
export function refusal(failure: Problem, { requestId, params }: RawHead): RawAnswer {
  const { httpStatus, code, retryAfterMs } = failure;
  const isOfContext = failure.param?.startsWith('context') === true;
  const errorCode = isOfContext ? 'INVALID_CONTEXT' : code === 'MALFORMED_JSON' ? 'PARSE_ERROR' : 'GENERAL';
  // Providers read the body of 400, 404 and 500 alone; what else is wrong with the request is 400 to them.
  const status = [401, 403, 413, 429, 503].includes(httpStatus) || httpStatus >= 500 ? httpStatus : 400;
  const body = { key: params.key, errorCode, errorDetails: sentence(failure), code, request_id: requestId };
  const seconds = String(Math.max(1, Math.ceil((retryAfterMs ?? 0) / 1_000)));
  return json(status, JSON.stringify(body), retryAfterMs === undefined ? {} : { 'retry-after': seconds });
}

function sentence({ code, message }: Problem): string {
  if (code === 'INTERNAL_ERROR') return sharedProblems.INTERNAL_ERROR.title;
  if (code !== 'INSUFFICIENT_SCOPE') return message;
  return (
    'The key of a web page can be read by everybody: it must have the scope flags.evaluate and no other. ' +
    'Make one with: qm keys create --account ACCOUNT_ID --name flags --scopes flags.evaluate'
  );
}
