// Who takes payments here, and on which terms. Read from the settings at the start; null as provider: payments are switched off.

import type { Tier } from '../core/accounts/tiers.ts';
import { problem } from '../problems/problem.ts';
import type { PaymentProvider } from '../vendors/payments/port.ts';

export interface Payments {
  readonly provider: PaymentProvider | null;
  /** Units per USD times 10^9, by currency; what is absent is not offered. */
  readonly fxRatesNanos: Readonly<Record<string, bigint>>;
  /** A top-up above it waits for the operator; null: none does. */
  readonly reviewAboveNanos: bigint | null;
  /** Above it a year's top-ups ask for an identity verification; null: never. */
  readonly kycAboveNanos: bigint | null;
  /** Of a month, by tier; a tier without one is sold by talking. */
  readonly tierPricesNanos: TierPrices;
}

export type TierPrices = Readonly<Partial<Record<Exclude<Tier, 'standard'>, bigint>>>;

/** Throws SERVICE_UNAVAILABLE with code_detail `payments_off` where nobody takes payments. */
export function requireProvider({ provider }: Payments): PaymentProvider {
  if (provider !== null) return provider;
  throw problem('SERVICE_UNAVAILABLE', {
    message: 'This service takes no payments: its operator has set no payment provider.',
    detail: 'payments_off',
  });
}
