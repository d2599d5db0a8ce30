// Failures on Resend's wire: {statusCode, name, message} with its names and statuses, and beside them our code and the request's id.
import type { RawAnswer } from '../../../kit/raw-route.ts';
import type { Problem } from '../../../problems/problem.ts';

type Told = readonly [statusCode: number, name: string];

/** Their documentation, "Errors". What is not here is told by its status. */
const byCode: Readonly<Record<string, Told>> = {
  UNAUTHORIZED: [401, 'missing_api_key'],
  INVALID_API_KEY: [403, 'invalid_api_key'],
  INSUFFICIENT_SCOPE: [401, 'restricted_api_key'],
  INSUFFICIENT_CREDIT: [429, 'monthly_quota_exceeded'],
  INVALID_IDEMPOTENCY_KEY: [400, 'invalid_idempotency_key'],
  IDEMPOTENCY_KEY_REUSED: [409, 'invalid_idempotent_request'],
  IDEMPOTENCY_CONFLICT: [409, 'invalid_idempotent_request'],
  IDEMPOTENCY_IN_FLIGHT: [409, 'concurrent_idempotent_requests'],
  IDEMPOTENCY_INDETERMINATE: [409, 'concurrent_idempotent_requests'],
  DOMAIN_NOT_VERIFIED: [403, 'validation_error'],
  RECIPIENT_SUPPRESSED: [422, 'validation_error'],
  STATE_CONFLICT: [422, 'validation_error'],
  METHOD_NOT_ALLOWED: [405, 'method_not_allowed'],
};

const byStatus: readonly (readonly [status: number, name: string])[] = [
  [500, 'application_error'],
  [429, 'rate_limit_exceeded'],
  [405, 'validation_error'],
  [404, 'not_found'],
  [403, 'invalid_access'],
  [400, 'validation_error'],
];

/** The message names fields as that wire does. */
export function refuse(failure: Problem, { requestId }: { readonly requestId: string }): RawAnswer {
  const { code, retryAfterMs } = failure;
  const message = failure.message.replaceAll('.content_base64', '.content');
  const [statusCode, name] = statusAndName(failure);
  const wait: Record<string, string> =
    retryAfterMs === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) };
  return {
    status: statusCode,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...wait },
    body: JSON.stringify({ statusCode, name, message, code, request_id: requestId }),
  };
}

function statusAndName(failure: Problem): Told {
  const { code, httpStatus } = failure;
  if (code === 'VALIDATION_FAILED') return [422, nameOfField(failure)];
  const [, name = 'validation_error'] = byStatus.find(([status]) => httpStatus >= status) ?? [];
  return byCode[code] ?? [httpStatus, name];
}

/** One field is at fault first; its name tells more than that something is invalid. */
function nameOfField({ param = '', detail, errors }: Problem): string {
  const field = param.replace(/^items\[\d+\]\./, '');
  const rule = errors?.[0]?.rule ?? detail;
  if (rule === 'required') return 'missing_required_field';
  if (field === 'from') return 'invalid_from_address';
  return field.startsWith('attachments') ? 'invalid_attachment' : 'validation_error';
}
