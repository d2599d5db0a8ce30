// Errors by their Amazon SQS names (docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/CommonErrors.html). A refusal that only this
// protocol has is a Problem whose detail is the name; other problems are mapped by their code.
import { type Problem, problem } from '../../../problems/problem.ts';

/** Names of JSON clients, and what clients of the query protocol get in their place, where that differs. */
const QUERY_NAMES: Readonly<Record<string, string>> = {
  QueueDoesNotExist: 'AWS.SimpleQueueService.NonExistentQueue',
  QueueNameExists: 'QueueAlreadyExists',
  EmptyBatchRequest: 'AWS.SimpleQueueService.EmptyBatchRequest',
  TooManyEntriesInBatchRequest: 'AWS.SimpleQueueService.TooManyEntriesInBatchRequest',
  BatchEntryIdsNotDistinct: 'AWS.SimpleQueueService.BatchEntryIdsNotDistinct',
  InvalidBatchEntryId: 'AWS.SimpleQueueService.InvalidBatchEntryId',
  BatchRequestTooLong: 'AWS.SimpleQueueService.BatchRequestTooLong',
  MessageNotInflight: 'AWS.SimpleQueueService.MessageNotInflight',
  UnsupportedOperation: 'AWS.SimpleQueueService.UnsupportedOperation',
};

/** What this protocol alone refuses. */
export type SqsRefusal =
  | 'BatchEntryIdsNotDistinct'
  | 'BatchRequestTooLong'
  | 'EmptyBatchRequest'
  | 'InvalidAction'
  | 'InvalidAttributeName'
  | 'InvalidAttributeValue'
  | 'InvalidBatchEntryId'
  | 'InvalidMessageContents'
  | 'InvalidParameterValue'
  | 'MessageNotInflight'
  | 'MissingParameter'
  | 'ReceiptHandleIsInvalid'
  | 'SerializationException'
  | 'TooManyEntriesInBatchRequest'
  | 'UnsupportedOperation';

const SQS = 'sqs.';

/** To throw. `param` as clients send it. */
export function refusal(name: SqsRefusal, message: string, param?: string): Problem {
  return problem('INVALID_REQUEST', { message, detail: `${SQS}${name}`, ...(param === undefined ? {} : { param }) });
}

export function missing(param: string): Problem {
  return refusal('MissingParameter', `The request must contain the parameter ${param}.`, param);
}

export function invalid(param: string, reason: string): Problem {
  return refusal('InvalidParameterValue', `The value of ${param} is invalid. Reason: ${reason}`, param);
}

export interface SqsFailure {
  readonly name: string;
  readonly queryName: string;
  readonly status: number;
  readonly message: string;
  /** Whose fault it is. */
  readonly type: 'Sender' | 'Receiver';
  /** Our own code, for whoever reads the documentation. */
  readonly code: string;
  readonly retryAfterMs: number | undefined;
}

const BY_CODE: Readonly<Record<string, readonly [name: string, status: number]>> = {
  QUEUE_NOT_FOUND: ['QueueDoesNotExist', 400],
  ALREADY_EXISTS: ['QueueNameExists', 400],
  STATE_CONFLICT: ['UnsupportedOperation', 400],
  MALFORMED_JSON: ['SerializationException', 400],
  NOT_FOUND: ['ResourceNotFoundException', 404],
  UNAUTHORIZED: ['MissingAuthenticationToken', 403],
  INSUFFICIENT_CREDIT: ['InsufficientCredit', 402],
  QUOTA_EXCEEDED: ['OverLimit', 403],
  PAYLOAD_TOO_LARGE: ['RequestEntityTooLarge', 413],
};
const SIGNATURES: ReadonlySet<string> = new Set(['signature', 'clock']);

export function failureOf(failure: Problem): SqsFailure {
  const { code, detail, httpStatus, message, retryAfterMs } = failure;
  const [name, status] = nameAndStatus(failure);
  const isOwn = httpStatus === 500;
  const shown = isOwn ? 'Something went wrong inside the service.' : message;
  const type = status >= 500 ? 'Receiver' : 'Sender';
  return {
    name,
    status,
    message: shown,
    type,
    retryAfterMs,
    queryName: QUERY_NAMES[name] ?? name,
    code: detail?.startsWith(SQS) === true ? name : code,
  };
}

function nameAndStatus({ code, detail = '', httpStatus }: Problem): readonly [name: string, status: number] {
  if (detail.startsWith(SQS)) return [detail.slice(SQS.length), 400];
  if (code === 'INVALID_API_KEY') {
    return [SIGNATURES.has(detail) ? 'SignatureDoesNotMatch' : 'InvalidClientTokenId', 403];
  }
  const known = BY_CODE[code];
  if (known !== undefined) return known;
  switch (httpStatus) {
    case 400:
      return ['InvalidParameterValue', 400];
    case 402:
      return ['InsufficientCredit', 402];
    case 401:
    case 403:
      return ['AccessDenied', 403];
    case 404:
      return ['ResourceNotFoundException', 404];
    case 429:
      return ['RequestThrottled', 429];
    case 503:
      return ['ServiceUnavailable', 503];
    default:
      return httpStatus < 500 ? ['InvalidParameterValue', 400] : ['InternalFailure', 500];
  }
}
