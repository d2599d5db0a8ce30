// How failures are told.
import { describe, expect, test } from 'vitest';
import type { RawHead } from '../../../../kit/raw-route.ts';
import { problem } from '../../../../problems/problem.ts';
import { failureAnswer, nameOf } from './failures.ts';
import { refusal } from './refusals.ts';

describe('a failure', () => {
  const head = (method: string, query = ''): RawHead => ({
    method,
    params: {},
    query: new URLSearchParams(query),
    headers: {},
    remoteAddress: '192.0.2.1',
    url: '/b/k',
    routed: `/s3/b/k?${query}`,
    requestId: 'req_1',
    failureMetadata: () => null,
  });

  test('is told in XML with our code, and to HEAD without a body', () => {
    const answer = failureAnswer(problem('ALREADY_EXISTS'), head('GET', 'x=1'));
    expect(answer).toMatchObject({
      status: 409,
      headers: { 'content-type': 'application/xml', 'x-amz-request-id': 'req_1' },
    });
    expect(answer.body).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>BucketAlreadyOwnedByYou</Code><Message>A resource with this name already exists with other settings.</Message><Resource>/b/k</Resource><RequestId>req_1</RequestId><ErrorCode>ALREADY_EXISTS</ErrorCode></Error>',
    );
    expect(failureAnswer(problem('ALREADY_EXISTS'), head('HEAD'))).toMatchObject({ status: 409, body: '' });
  });

  test.each([
    [problem('RATE_LIMITED', { retryAfterMs: 1_500 }), 'SlowDown', 503],
    [problem('SERVICE_UNAVAILABLE'), 'ServiceUnavailable', 503],
    [problem('INSUFFICIENT_CREDIT'), 'InsufficientCredit', 402],
    [problem('INSUFFICIENT_SCOPE'), 'AccessDenied', 403],
    [problem('UNAUTHORIZED'), 'AccessDenied', 403],
    [problem('INVALID_API_KEY'), 'InvalidAccessKeyId', 403],
    [problem('INVALID_API_KEY', { detail: 'revoked' }), 'InvalidAccessKeyId', 403],
    [problem('INVALID_API_KEY', { detail: 'signature' }), 'SignatureDoesNotMatch', 403],
    [problem('INVALID_API_KEY', { detail: 'clock' }), 'RequestTimeTooSkewed', 403],
    [problem('INVALID_REQUEST', { detail: 'content_sha256' }), 'XAmzContentSHA256Mismatch', 400],
    [problem('INVALID_REQUEST', { detail: 'checksum' }), 'BadDigest', 400],
    [problem('INVALID_REQUEST', { detail: 'incomplete_body' }), 'IncompleteBody', 400],
    [problem('INVALID_REQUEST'), 'InvalidRequest', 400],
    [problem('NOT_FOUND', { detail: 'upload' }), 'NoSuchUpload', 404],
    [problem('VALIDATION_FAILED', { detail: 'part_order', param: 'parts' }), 'InvalidPartOrder', 400],
    [problem('VALIDATION_FAILED', { param: 'bucket', detail: 'pattern' }), 'InvalidBucketName', 400],
    [problem('VALIDATION_FAILED', { param: 'x' }), 'InvalidArgument', 400],
    [problem('PAYLOAD_TOO_LARGE'), 'EntityTooLarge', 400],
    [problem('RANGE_NOT_SATISFIABLE'), 'InvalidRange', 416],
    [problem('INTERNAL_ERROR', { message: 'secret path' }), 'InternalError', 500],
    [refusal('NotImplemented', 'x'), 'NotImplemented', 501],
  ])('%s is %s', (failure, name, status) => {
    expect(nameOf(failure)).toEqual([name, status]);
    const { body } = failureAnswer(failure, head('GET'));
    expect(body).toContain(`<Code>${name}</Code>`);
    expect(body).not.toContain('secret path');
  });

  test('says when to come again, and that a presigned address has ended', () => {
    expect(failureAnswer(problem('RATE_LIMITED', { retryAfterMs: 1_500 }), head('GET')).headers).toMatchObject({
      'retry-after': '2',
    });
    const expired = problem('INVALID_API_KEY', { detail: 'clock' });
    expect(failureAnswer(expired, head('GET', 'X-Amz-Signature=0')).body).toContain('<Code>AccessDenied</Code>');
  });
});
