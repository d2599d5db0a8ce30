// Refusals of the S3 protocol alone: a Problem whose detail is an Amazon S3 error name.
import { type Problem, problem } from '../../../../problems/problem.ts';

/** What this protocol alone refuses, and with which status. */
export const REFUSALS = {
  AccessControlListNotSupported: 400,
  AccessDenied: 403,
  AccessForbidden: 403,
  BadDigest: 400,
  BadRequest: 400,
  BucketAlreadyOwnedByYou: 409,
  EntityTooLarge: 400,
  EntityTooSmall: 400,
  InvalidArgument: 400,
  InvalidDigest: 400,
  InvalidLocationConstraint: 400,
  InvalidPart: 400,
  InvalidPartOrder: 400,
  InvalidPolicyDocument: 400,
  InvalidRange: 416,
  InvalidRequest: 400,
  InvalidStorageClass: 400,
  InvalidTag: 400,
  InvalidURI: 400,
  KeyTooLongError: 400,
  MalformedPOSTRequest: 400,
  MalformedXML: 400,
  MaxPostPreDataLengthExceeded: 400,
  MetadataTooLarge: 400,
  MethodNotAllowed: 405,
  MissingContentLength: 411,
  NoSuchBucket: 404,
  NoSuchBucketPolicy: 404,
  NoSuchCORSConfiguration: 404,
  NoSuchKey: 404,
  NoSuchLifecycleConfiguration: 404,
  NoSuchPublicAccessBlockConfiguration: 404,
  NoSuchTagSet: 404,
  NoSuchUpload: 404,
  NoSuchWebsiteConfiguration: 404,
  NotImplemented: 501,
  ObjectLockConfigurationNotFoundError: 404,
  OwnershipControlsNotFoundError: 404,
  PreconditionFailed: 412,
  ReplicationConfigurationNotFoundError: 404,
  ServerSideEncryptionConfigurationNotFoundError: 404,
} as const;

export type S3Refusal = keyof typeof REFUSALS;

/** Begins these details. */
export const S3 = 's3.';

/** To throw. */
export function refusal(name: S3Refusal, message: string): Problem {
  return problem('INVALID_REQUEST', { message, detail: `${S3}${name}` });
}

export function malformedXml(message = 'The XML is not what this operation takes.'): Problem {
  return refusal('MalformedXML', message);
}

export function notImplemented(what: string): Problem {
  return refusal('NotImplemented', `${what} is not supported here.`);
}

export function noAcl(): Problem {
  return refusal('AccessControlListNotSupported', 'No object is public: the scopes of API keys say who may do what.');
}
