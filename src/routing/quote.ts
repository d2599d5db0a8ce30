// Price of a vendor's work to the caller: the vendor's price plus the markup, rounded up to a whole nano-USD (contract, vendors §1).
import type { Vendor } from '../vendors/file/port.ts';

/**
 * `units` at `nanosPerUnit` each, nano-USD. `unitsPerPrice`: of how many units `nanosPerUnit` is the price, for prices such as those of a
 * million tokens; nothing is lost on the way.
 */
export function quoteOf(
  { markupPct }: Pick<Vendor, 'markupPct'>,
  nanosPerUnit: bigint,
  units: bigint,
  unitsPerPrice = 1n,
): bigint {
  const hundredths = nanosPerUnit * units * BigInt(100 + Math.round(markupPct * 100));
  const divisor = 100n * unitsPerPrice;
  return (hundredths + divisor - 1n) / divisor;
}
