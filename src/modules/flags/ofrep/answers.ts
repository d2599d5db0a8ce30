// How OFREP tells evaluations and failures, to programs and to pages.
import { openToPages, pageKeySentence } from '../../../kit/page-access.ts';
import type { RawAnswer, RawHead } from '../../../kit/raw-route.ts';
import { telemetrySentence, telemetryStatus } from '../../../kit/telemetry.ts';
import type { Problem } from '../../../problems/problem.ts';
import type { Evaluation } from '../serving/served-flag.ts';

export const { open, preflight } = openToPages({
  methods: 'GET, POST',
  headers: 'Authorization, Content-Type, If-None-Match, Last-Event-ID, Cache-Control, traceparent',
  exposed: 'ETag, Retry-After, X-Request-Id',
});

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
  const { code, param } = failure;
  const { status, headers } = telemetryStatus(failure);
  const isOfContext = param?.startsWith('context') === true;
  const errorCode = isOfContext ? 'INVALID_CONTEXT' : code === 'MALFORMED_JSON' ? 'PARSE_ERROR' : 'GENERAL';
  const errorDetails =
    code === 'INSUFFICIENT_SCOPE' ? pageKeySentence('flags', 'flags.evaluate') : telemetrySentence(failure);
  const body = JSON.stringify({ key: params.key, errorCode, errorDetails, code, request_id: requestId });
  // Providers read the body of 400, 404 and 500 alone; what else is wrong with the request is 400 to them.
  return json([401, 403, 413, 429].includes(status) || status >= 500 ? status : 400, body, headers);
}
