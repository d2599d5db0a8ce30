// The error codes that a capability may answer: its own, plus those of the request path.

import { type Capability, pathParameters } from '../kit/capability.ts';
import type { ProblemCode } from '../problems/catalogue.ts';

const always: readonly ProblemCode[] = [
  'INVALID_REQUEST',
  'VALIDATION_FAILED',
  'UNAUTHORIZED',
  'INVALID_API_KEY',
  'INSUFFICIENT_SCOPE',
  'APPROVAL_REQUIRED',
  'APPROVAL_DENIED',
  'ACCOUNT_SUSPENDED',
];
const ofBodies: readonly ProblemCode[] = ['MALFORMED_JSON', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];
const ofIdempotency: readonly ProblemCode[] = [
  'INVALID_IDEMPOTENCY_KEY',
  'IDEMPOTENCY_KEY_REUSED',
  'IDEMPOTENCY_IN_FLIGHT',
  'IDEMPOTENCY_INDETERMINATE',
];
const ofTheService: readonly ProblemCode[] = ['INTERNAL_ERROR', 'SERVICE_UNAVAILABLE', 'OVERLOADED'];

/** Whether the fields beside the path travel in a JSON body (else in the query). */
export function takesBody(capability: Pick<Capability, 'method'>): boolean {
  return capability.method !== 'GET' && capability.method !== 'DELETE';
}

const ofGates = {
  operator: 'INSUFFICIENT_SCOPE',
  person: 'INSUFFICIENT_SCOPE',
  recent_sign_in: 'REAUTHENTICATION_REQUIRED',
  email: 'EMAIL_BINDING_REQUIRED',
  kyc: 'KYC_REQUIRED',
} as const;

/** Names of the input fields that are not part of the path. */
export function fieldsBesidePath(capability: Pick<Capability, 'path' | 'input'>): string[] {
  const inPath = new Set(pathParameters(capability.path));
  return Object.keys(capability.input.properties).filter((name) => !inPath.has(name));
}

/** Of every call: what a key, a body, a list, an idempotency key, a wallet or the service itself may answer with. */
export const commonFailures: readonly ProblemCode[] = [
  ...always,
  ...ofBodies,
  'INVALID_CURSOR',
  ...ofIdempotency,
  'INSUFFICIENT_CREDIT',
  'RATE_LIMITED',
  'CONCURRENCY_LIMITED',
  ...ofTheService,
];

/** Codes that a call of this capability may answer with beside the common ones. */
export function ownFailureCodes(capability: Capability): string[] {
  const common = new Set<string>(commonFailures);
  return failureCodes(capability).filter((code) => !common.has(code));
}

/** Codes that a call of this capability may answer with, without repetition, common ones first. */
export function failureCodes(capability: Capability): string[] {
  return [
    ...new Set<string>([
      ...always,
      ...(capability.method === 'GET' ? [] : ofBodies),
      ...('cursor' in capability.input.properties ? (['INVALID_CURSOR'] as const) : []),
      ...(capability.price === 'free' ? [] : (['INSUFFICIENT_CREDIT'] as const)),
      ...(capability.idempotent ? ofIdempotency : []),
      ...(capability.replay?.secret === true ? (['IDEMPOTENCY_CONFLICT'] as const) : []),
      ...(capability.unlimited || capability.price !== 'free' ? [] : (['RATE_LIMITED'] as const)),
      'CONCURRENCY_LIMITED',
      ...(capability.gates ?? []).map((gate) => ofGates[gate]),
      ...capability.errors,
      ...ofTheService,
    ]),
  ];
}
