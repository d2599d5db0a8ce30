// Payment terms of this deployment, from the settings.

import type { Tier } from '../core/callers/tiers.ts';
import type { PaymentProvider } from '../vendors/payments/port.ts';

/** What this room adds to the services of a process. */
export interface PaymentsPart {
  readonly payments: Payments;
}

export interface Payments {
  /** Null: payments are switched off. */
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
