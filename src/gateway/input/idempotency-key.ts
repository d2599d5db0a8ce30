// Takes the idempotency key of a call out of its input, and adds the fingerprint of the request.
import { KEY_FIELD } from '../../core/idempotency/fingerprint.ts';
import { problem } from '../../problems/problem.ts';
import type { Call } from '../call.ts';

const KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * Takes the key out of the input, with what was sent for it elsewhere. `fingerprint`: of the request, made when there is a key.
 * Throws INVALID_IDEMPOTENCY_KEY.
 */
export function takeIdempotencyKey(call: Call, beside: readonly unknown[], fingerprint: () => string): void {
  const { input } = call;
  const sent = [...(Object.hasOwn(input, KEY_FIELD) ? [input[KEY_FIELD]] : []), ...beside];
  if (sent.length === 0) return;
  delete input[KEY_FIELD];
  if (!call.endpoint.capability.idempotent) {
    call.warnings.push(`${KEY_FIELD}: ignored, ${call.capability} does not take an idempotency key`);
    return;
  }
  const key = theOne(sent);
  const { secrets } = call.core;
  call.idempotency = { raw: key, hash: secrets.idempotencyHash(call.capability, key), fingerprint: fingerprint() };
}

function theOne(sent: readonly unknown[]): string {
  const [key] = sent;
  if (sent.some((other) => other !== key)) {
    throw problem('INVALID_IDEMPOTENCY_KEY', {
      param: KEY_FIELD,
      detail: 'conflict',
      message: 'Body, headers and query name different idempotency keys.',
    });
  }
  if (typeof key !== 'string' || !KEY.test(key)) {
    throw problem('INVALID_IDEMPOTENCY_KEY', {
      param: KEY_FIELD,
      message: `${KEY_FIELD} must be 1 to 255 printable ASCII characters.`,
    });
  }
  return key;
}
