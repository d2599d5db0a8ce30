import { expect, test } from 'vitest';
import { invalidField, type Problem, problem } from '../../../problems/problem.ts';
import { refuse } from './failures.ts';

const told = (failure: Problem) => {
  const { status, body } = refuse(failure, { requestId: 'req_1' });
  const { statusCode, name, message, code, request_id } = JSON.parse(String(body));
  expect([statusCode, message, code, request_id]).toEqual([status, failure.message, failure.code, 'req_1']);
  return [status, name];
};

test.each([
  ['UNAUTHORIZED', 401, 'missing_api_key'],
  ['INVALID_API_KEY', 403, 'invalid_api_key'],
  ['INSUFFICIENT_SCOPE', 401, 'restricted_api_key'],
  ['ACCOUNT_SUSPENDED', 403, 'invalid_access'],
  ['INSUFFICIENT_CREDIT', 429, 'monthly_quota_exceeded'],
  ['RATE_LIMITED', 429, 'rate_limit_exceeded'],
  ['IDEMPOTENCY_KEY_REUSED', 409, 'invalid_idempotent_request'],
  ['IDEMPOTENCY_IN_FLIGHT', 409, 'concurrent_idempotent_requests'],
  ['INVALID_IDEMPOTENCY_KEY', 400, 'invalid_idempotency_key'],
  ['MALFORMED_JSON', 400, 'validation_error'],
  ['NOT_FOUND', 404, 'not_found'],
  ['CAPABILITY_NOT_FOUND', 404, 'not_found'],
  ['STATE_CONFLICT', 422, 'validation_error'],
  ['PAYLOAD_TOO_LARGE', 413, 'validation_error'],
  ['INTERNAL_ERROR', 500, 'application_error'],
  ['OVERLOADED', 503, 'application_error'],
] as const)('%s is %i %s', (code, status, name) => {
  expect(told(problem(code))).toEqual([status, name]);
});

test.each([
  ['subject', 'required', 'missing_required_field'],
  ['from', 'address', 'invalid_from_address'],
  ['items[3].from', 'address', 'invalid_from_address'],
  ['attachments[0].content_base64', 'base64', 'invalid_attachment'],
  ['to[1]', 'address', 'validation_error'],
])('a fault in %s (%s) is %s', (param, rule, name) => {
  expect(told(invalidField(param, rule, 'It is wrong.'))).toEqual([422, name]);
});

test('the bytes of an attachment are named as the client sent them', () => {
  const param = 'attachments[0].content_base64';
  const { body } = refuse(invalidField(param, 'base64', `${param} is not base64.`), { requestId: 'req_1' });
  expect(JSON.parse(String(body)).message).toBe('attachments[0].content is not base64.');
});

test('a refusal that passes says when to come again', () => {
  const { headers } = refuse(problem('RATE_LIMITED', { retryAfterMs: 1_200 }), { requestId: 'req_1' });
  expect(headers['retry-after']).toBe('2');
});
