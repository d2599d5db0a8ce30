import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dollars, nanosOfUsd, usd } from './money.ts';

describe('money', () => {
  test('survives the way to decimal USD and back, to the nano, up to 4 million USD', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 4_000_000_000_000_000n }), (nanos) => nanosOfUsd(usd(nanos)) === nanos),
    );
  });

  test.each([
    [0, 0n],
    [-0, 0n],
    [1e-9, 1n],
    [0.1, 100_000_000n],
    [0.00002, 20_000n],
    [0.1 + 0.2, null],
    [1.5e3, 1_500_000_000_000n],
    [9e9, 9_000_000_000_000_000_000n],
    [1e-10, null],
    [1.0000000001, null],
    [-1, null],
    [1e21, null],
    [Number.NaN, null],
    [Number.POSITIVE_INFINITY, null],
  ])('%d USD', (amount, nanos) => {
    expect(nanosOfUsd(amount)).toBe(nanos);
  });

  test('is told with cents, and all that it has beyond', () => {
    expect([10, 0.5, 0.00002, 1e-9, -3.25].map(dollars)).toEqual([
      ...['$10.00', '$0.50', '$0.00002', '$0.000000001', '-$3.25'],
    ]);
  });
});
