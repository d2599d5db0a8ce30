// Computes a vendor's bill for a job, and the caller's share of it: with markup, and never more than the hold.
import { quoteOf } from '../routing/quote.ts';
import type { JobBill } from '../vendors/call/job.ts';
import type { JobKind } from './kind.ts';
import type { Charge } from './price.ts';
import { chainOf, type JobRow, type Link } from './row.ts';

export interface Billed {
  /** What the vendor is owed, nano-USD without markup. */
  readonly vendorNanos: bigint;
  /** What the caller pays for it; without storage. */
  readonly charge: Charge;
}

const MICROS = 1_000_000;

export const nothing: Charge = { units: 0, workNanos: 0n, storageNanos: 0n, storageUnits: 0n };

/** `position`: of the chain, where it was made. */
export function billedFor(kind: Pick<JobKind, 'unitsOf'>, job: JobRow, position: number, bill: JobBill): Billed {
  if (bill === 'nothing') return { vendorNanos: 0n, charge: nothing };
  const link = chainOf(job)[position] as Link;
  const asked = kind.unitsOf(job);
  const units = bill === 'quote' ? asked : bill.units;
  const all = BigInt(link.vendorNanos);
  const vendorNanos =
    link.per === 'clip' ? all : divideUp(all * BigInt(Math.round(units * MICROS)), BigInt(asked * MICROS));
  const due = quoteOf(link, vendorNanos, 1n);
  const held = job.held_nanos - job.storage_nanos;
  return { vendorNanos, charge: { ...nothing, units: Math.ceil(units), workNanos: due < held ? due : held } };
}

/** As an attempt keeps it; earlier releases told seconds. */
export function billFrom(text: string): JobBill {
  const bill = JSON.parse(text) as JobBill | { readonly seconds: number };
  return typeof bill === 'object' && 'seconds' in bill ? { units: bill.seconds } : bill;
}

function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}
