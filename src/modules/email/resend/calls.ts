// Idempotency key of requests on Resend's wire.
import type { RawRequest } from '../../../kit/raw-route.ts';

export function keyOf({ headers }: RawRequest): { readonly idempotencyKey?: string } {
  const sent = headers['idempotency-key'];
  return typeof sent === 'string' ? { idempotencyKey: sent } : {};
}
