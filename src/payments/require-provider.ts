// Requires a configured payment provider.

import { problem } from '../problems/problem.ts';
import type { PaymentProvider } from '../vendors/payments/port.ts';
import type { Payments } from './terms.ts';

/** Throws SERVICE_UNAVAILABLE with code_detail `payments_off` where nobody takes payments. */
export function requireProvider({ provider }: Payments): PaymentProvider {
  if (provider !== null) return provider;
  throw problem('SERVICE_UNAVAILABLE', {
    message: 'This service takes no payments: its operator has set no payment provider.',
    detail: 'payments_off',
  });
}
