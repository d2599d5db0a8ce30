// What the requests of Resend's wire have in common.
import type { RawRequest } from '../../../kit/raw-route.ts';

export function keyOf({ headers }: RawRequest): { readonly idempotencyKey?: string } {
  const sent = headers['idempotency-key'];
  return typeof sent === 'string' ? { idempotencyKey: sent } : {};
}
