// The price of a job: the work at the vendor's quote, and storage of its output, paid in advance.
import { type PriceBook, priceOf } from '../core/wallet/prices.ts';
import type { PriceName } from '../kit/capability.ts';
import type { JobRow } from './row.ts';

const GIB = 1n << 30n;

/** What the end of a job captures, nano-USD. */
export interface Charge {
  /** Seconds, or images. */
  readonly units: number;
  readonly workNanos: bigint;
  readonly storageNanos: bigint;
  /** GiB-days, rounded up. */
  readonly storageUnits: bigint;
}

/** Nano-USD of a GiB-day. */
export function gibDayNanos(prices: PriceBook, storagePrice: PriceName): bigint {
  return priceOf(prices, storagePrice, 1n);
}

/** Nano-USD and GiB-days of so many bytes for so many days, rounded up; `nanosPerUnit`: of a GiB-day. */
export function storagePrice(bytes: number, days: number, nanosPerUnit: bigint): { nanos: bigint; units: bigint } {
  const byteDays = BigInt(bytes) * BigInt(days);
  return { nanos: divideUp(byteDays * nanosPerUnit, GIB), units: divideUp(byteDays, GIB) };
}

/** What keeping it costs, by the bytes that its record shows; never more than was held for it. */
export function storageCharge(
  job: Pick<JobRow, 'store' | 'retention_days' | 'storage_nanos'>,
  sizeBytes: number,
  nanosPerUnit: bigint,
): Pick<Charge, 'storageNanos' | 'storageUnits'> {
  if (!job.store) return { storageNanos: 0n, storageUnits: 0n };
  const { nanos, units } = storagePrice(sizeBytes, job.retention_days, nanosPerUnit);
  return { storageNanos: nanos < job.storage_nanos ? nanos : job.storage_nanos, storageUnits: units };
}

function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}
