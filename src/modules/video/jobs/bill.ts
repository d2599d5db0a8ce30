// What a vendor bills for a job, and what of it the caller pays: with the markup, and never more than was held for the work.
import { quoteOf } from '../../../core/vendors/quote.ts';
import type { VideoBill } from '../vendors/port.ts';
import type { Charge } from './price.ts';
import { chainOf, type JobRow, type Link, wantedOf } from './row.ts';

export interface Billed {
  /** What the vendor is owed, nano-USD without markup. */
  readonly vendorNanos: bigint;
  /** What the caller pays for it; without storage. */
  readonly charge: Charge;
}

const MICROS = 1_000_000;

export const nothing: Charge = { seconds: 0, workNanos: 0n, storageNanos: 0n, storageUnits: 0n };

/** `position`: of the chain, where it was made. */
export function billedFor(job: JobRow, position: number, bill: VideoBill): Billed {
  if (bill === 'nothing') return { vendorNanos: 0n, charge: nothing };
  const link = chainOf(job)[position] as Link;
  const { seconds: asked } = wantedOf(job);
  const seconds = bill === 'quote' ? asked : bill.seconds;
  const all = BigInt(link.vendorNanos);
  const vendorNanos =
    link.per === 'clip' ? all : divideUp(all * BigInt(Math.round(seconds * MICROS)), BigInt(asked * MICROS));
  const due = quoteOf(link, vendorNanos, 1n);
  const held = job.held_nanos - job.storage_nanos;
  return { vendorNanos, charge: { ...nothing, seconds: Math.ceil(seconds), workNanos: due < held ? due : held } };
}

function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}
