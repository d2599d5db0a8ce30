// Money: integer nano-USD (bigint) inside, decimal USD at the surface.

export const NANOS_PER_USD = 1_000_000_000n;

/** Nano-USD to a JSON number of USD. Exact to the nano up to 4 million USD (2^22, where doubles are spaced closer than that). */
export function usd(nanos: bigint): number {
  return Number(nanos) / 1e9;
}

/** Nano-USD as people read USD: without an exponent. */
export function usdText(nanos: bigint): string {
  return plainDecimal(usd(nanos));
}

/** `$10.00`, `$0.00002`: an amount for people, with cents and all that it has beyond. */
export function dollars(amount: number): string {
  const [whole, fraction = ''] = plainDecimal(Math.abs(amount)).split('.');
  return `${amount < 0 ? '-' : ''}$${whole}.${fraction.padEnd(2, '0')}`;
}

/** A JSON number of USD to nano-USD; null when it is negative, finer than a nano-USD or beyond 2^63 nanos. */
export function nanosOfUsd(amount: number): bigint | null {
  if (!Number.isFinite(amount) || amount < 0 || amount > 9_000_000_000) return null;
  const [whole, fraction = ''] = plainDecimal(amount).split('.');
  if (fraction.length > 9) return null;
  return BigInt(whole as string) * NANOS_PER_USD + BigInt(fraction.padEnd(9, '0'));
}

/** A number that is not negative as the fraction that its decimal digits say: 0.25 is 25 of 100. Nothing is rounded. */
export function decimalOf(amount: number): { readonly digits: bigint; readonly unit: bigint } {
  const [whole, fraction = ''] = plainDecimal(amount).split('.');
  return { digits: BigInt(whole + fraction), unit: 10n ** BigInt(fraction.length) };
}

// Shortest decimal digits of the double, without an exponent.
function plainDecimal(amount: number): string {
  const text = String(amount);
  const match = /^(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (match === null) return text;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const shift = Number(exponent);
  const digits = whole + fraction;
  if (shift < 0) return `0.${'0'.repeat(-shift - whole.length)}${digits}`;
  return digits + '0'.repeat(shift - fraction.length);
}
