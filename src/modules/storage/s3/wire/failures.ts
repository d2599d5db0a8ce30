// Error names of Amazon S3 (docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html). A refusal of this protocol alone is a Problem whose
// detail is the name; any other Problem is mapped by its code.
import type { RawAnswer, RawHead } from '../../../../kit/raw-route.ts';
import type { Problem } from '../../../../problems/problem.ts';
import { resourceOf } from './operation.ts';
import { REFUSALS, S3, type S3Refusal } from './refusals.ts';
import { xmlDocument } from './xml.ts';

type Named = readonly [name: string, status: number];

const BY_CODE: Readonly<Record<string, Named>> = {
  ALREADY_EXISTS: ['BucketAlreadyOwnedByYou', 409],
  BUCKET_NOT_EMPTY: ['BucketNotEmpty', 409],
  BUCKET_NOT_FOUND: ['NoSuchBucket', 404],
  CONCURRENCY_LIMITED: ['SlowDown', 503],
  DEADLINE_EXCEEDED: ['RequestTimeout', 400],
  INSUFFICIENT_CREDIT: ['InsufficientCredit', 402],
  METHOD_NOT_ALLOWED: ['MethodNotAllowed', 405],
  OBJECT_NOT_FOUND: ['NoSuchKey', 404],
  OVERLOADED: ['SlowDown', 503],
  PAYLOAD_TOO_LARGE: ['EntityTooLarge', 400],
  PRECONDITION_FAILED: ['PreconditionFailed', 412],
  QUOTA_EXCEEDED: ['QuotaExceeded', 403],
  RANGE_NOT_SATISFIABLE: ['InvalidRange', 416],
  RATE_LIMITED: ['SlowDown', 503],
  STATE_CONFLICT: ['OperationAborted', 409],
  UNAUTHORIZED: ['AccessDenied', 403],
};

/** Details of INVALID_REQUEST (core/credentials/aws-body.ts), NOT_FOUND and VALIDATION_FAILED (objects). */
const BY_DETAIL: Readonly<Record<string, Named>> = {
  bad_digest: ['BadDigest', 400],
  body_too_long: ['IncompleteBody', 400],
  checksum: ['BadDigest', 400],
  content_sha256: ['XAmzContentSHA256Mismatch', 400],
  decoded_length: ['IncompleteBody', 400],
  incomplete_body: ['IncompleteBody', 400],
  key_too_long: ['KeyTooLongError', 400],
  metadata_too_large: ['MetadataTooLarge', 400],
  part: ['InvalidPart', 400],
  part_order: ['InvalidPartOrder', 400],
  part_too_small: ['EntityTooSmall', 400],
  upload: ['NoSuchUpload', 404],
};
const DETAILED: ReadonlySet<string> = new Set(['INVALID_REQUEST', 'NOT_FOUND', 'VALIDATION_FAILED']);

/** Name and status. `isPresigned`: its signature stands in the query. */
export function nameOf({ code, detail = '', httpStatus, param = '' }: Problem, isPresigned = false): Named {
  if (detail.startsWith(S3)) {
    const name = detail.slice(S3.length) as S3Refusal;
    return [name, REFUSALS[name]];
  }
  if (code === 'INVALID_API_KEY') {
    if (detail === 'signature') return ['SignatureDoesNotMatch', 403];
    if (detail === 'clock') return [isPresigned ? 'AccessDenied' : 'RequestTimeTooSkewed', 403];
    return ['InvalidAccessKeyId', 403];
  }
  const known = BY_CODE[code] ?? (DETAILED.has(code) ? BY_DETAIL[detail] : undefined);
  if (known !== undefined) return known;
  if (code === 'VALIDATION_FAILED') return [param === 'bucket' ? 'InvalidBucketName' : 'InvalidArgument', 400];
  switch (httpStatus) {
    case 401:
    case 403:
      return ['AccessDenied', 403];
    case 402:
      return ['InsufficientCredit', 402];
    case 429:
      return ['SlowDown', 503];
    case 503:
      return ['ServiceUnavailable', 503];
    default:
      return httpStatus < 500 ? ['InvalidRequest', httpStatus] : ['InternalError', 500];
  }
}

/** The answer of a failure: its name and message, our own code, and the id of the request. That to HEAD has no body. */
export function failureAnswer(failure: Problem, head: RawHead): RawAnswer {
  const isPresigned = head.query.has('X-Amz-Signature');
  const [name, status] = nameOf(failure, isPresigned);
  const { code, detail = '', retryAfterMs, httpStatus } = failure;
  const headers: Record<string, string> = { 'content-type': 'application/xml', 'cache-control': 'no-store' };
  if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterMs / 1_000)));
  headers['x-amz-request-id'] = head.requestId;
  if (head.method === 'HEAD') return { status, headers, body: '' };
  const body = xmlDocument('Error', {
    Code: name,
    Message: httpStatus === 500 ? 'Something went wrong inside the service.' : failure.message,
    Resource: resourceOf(head.routed),
    RequestId: head.requestId,
    ErrorCode: detail.startsWith(S3) ? name : code,
  });
  return { status, headers, body };
}
