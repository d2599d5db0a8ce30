// Conversion between the wallet's USD and the charged currency. Rates are units per USD times 10^9, frozen in the row of a payment.
import { NANOS_PER_USD } from '../lib/money.ts';

/** Digits after the point. */
const DIGITS: Readonly<Record<string, number>> = { USD: 2, CNY: 2, EUR: 2, GBP: 2, JPY: 0 };

/** What is charged for an amount of USD, in the smallest unit of the currency, rounded up. */
export function minorOfNanos(amountNanos: bigint, rateNanos: bigint, currency: string): number {
  const scaled = amountNanos * rateNanos * 10n ** BigInt(digitsOf(currency));
  const unit = NANOS_PER_USD * NANOS_PER_USD;
  return Number((scaled + unit - 1n) / unit);
}

/** As people write it: 9.99 for 999 cents. */
export function majorOf(minor: bigint | number, currency: string): number {
  return Number(minor) / 10 ** digitsOf(currency);
}

/** For people: `9.99 EUR`, `1502 JPY`. */
export function amountText(minor: bigint | number, currency: string): string {
  return `${majorOf(minor, currency).toFixed(digitsOf(currency))} ${currency}`;
}

function digitsOf(currency: string): number {
  const digits = DIGITS[currency];
  if (digits === undefined) throw new Error(`nothing is charged in ${currency}`);
  return digits;
}

/** A payment, and what of it has gone back. */
export interface Returned {
  readonly amountNanos: bigint;
  readonly chargeMinor: bigint;
  readonly backNanos: bigint;
  readonly backMinor: bigint;
}

/** What `minor` more of the payment going back takes from the wallet; all that is left of it with the last unit. */
export function nanosGoingBack({ amountNanos, chargeMinor, backNanos, backMinor }: Returned, minor: bigint): bigint {
  const total = (amountNanos * (backMinor + minor)) / chargeMinor;
  return total > backNanos ? total - backNanos : 0n;
}

/** How much of the payment is paid back for `nanos` more of its credit: rounded down, all that is left with the last of it. */
export function minorGoingBack({ amountNanos, chargeMinor, backNanos, backMinor }: Returned, nanos: bigint): bigint {
  const total = (chargeMinor * (backNanos + nanos)) / amountNanos;
  return total > backMinor ? total - backMinor : 0n;
}

/** Of cents of USD. */
export function nanosOfMinor(minor: number): bigint {
  return (BigInt(minor) * NANOS_PER_USD) / 100n;
}
