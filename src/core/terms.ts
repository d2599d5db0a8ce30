// On which terms people sign up and pay here. Read from the settings at the start.
import type { PaymentProvider } from '../vendors/payments/port.ts';
import type { Tier } from './accounts/tiers.ts';

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

export interface SignUp {
  /** Whether somebody without an account is given one at the first sign-in. */
  readonly isOpen: boolean;
  /** Domains of addresses that may sign up, in lower case; empty: all. */
  readonly domains: readonly string[];
}
