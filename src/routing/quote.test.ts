import { expect, test } from 'vitest';
import { quoteOf } from './quote.ts';

const outside = { markupPct: 0.05 } as const;
const local = { markupPct: 0 } as const;

test.each([
  ['without markup the price itself', local, 40_000_000n, 5n, 1n, 200_000_000n],
  ['with markup a twentieth more', outside, 40_000_000n, 5n, 1n, 210_000_000n],
  ['rounded up to a whole nano-USD', outside, 1n, 1n, 1n, 2n],
  ['of a million, to the nano-USD, though a single unit costs less', outside, 10_000_000n, 3n, 1_000_000n, 32n],
  ['nothing for what is free', outside, 0n, 9n, 1n, 0n],
])('%s', (_name, vendor, nanos, units, per, expected) => {
  expect(quoteOf(vendor, nanos, units, per)).toBe(expected);
});
