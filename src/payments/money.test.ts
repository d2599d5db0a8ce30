import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { majorOf, minorGoingBack, minorOfNanos, nanosGoingBack } from './money.ts';

const USD = 10n ** 9n;

test.each([
  [10n * USD, USD, 'USD', 1_000],
  [10n * USD, 7_200_000_000n, 'CNY', 7_200],
  [10n * USD, 900_000_000n, 'EUR', 900],
  [5_010_000_000n, 901_000_000n, 'EUR', 452],
  [10n * USD, 150_123_456_789n, 'JPY', 1_502],
  [5n * USD, 150_000_000_000n, 'JPY', 750],
])('%s nano-USD at %s are %s %i, rounded up to the unit', (nanos, rate, currency, minor) => {
  expect(minorOfNanos(nanos, rate, currency)).toBe(minor);
});

test('amounts are shown in major units', () => {
  expect([majorOf(999n, 'EUR'), majorOf(1_502n, 'JPY')]).toEqual([9.99, 1_502]);
});

describe('what goes back in parts', () => {
  const payment = fc.record({
    amountNanos: fc.bigInt({ min: 5n * USD, max: 10_000n * USD }),
    chargeMinor: fc.bigInt({ min: 1n, max: 2_000_000n }),
  });

  test('adds up to exactly the credit once the whole charge went back, in any parts', () => {
    fc.assert(
      fc.property(payment, fc.array(fc.bigInt({ min: 1n, max: 100_000n })), (paid, cuts) => {
        let [backNanos, backMinor] = [0n, 0n];
        for (const cut of [...cuts, paid.chargeMinor]) {
          const minor = cut < paid.chargeMinor - backMinor ? cut : paid.chargeMinor - backMinor;
          const nanos = nanosGoingBack({ ...paid, backNanos, backMinor }, minor);
          expect(nanos >= 0n).toBe(true);
          backNanos += nanos;
          backMinor += minor;
        }
        expect(backNanos).toBe(paid.amountNanos);
      }),
    );
  });

  test('never pays back more than its share, and all with the last of it', () => {
    fc.assert(
      fc.property(payment, fc.array(fc.bigInt({ min: 1n, max: 10n * USD })), (paid, cuts) => {
        let [backNanos, backMinor] = [0n, 0n];
        for (const cut of [...cuts, paid.amountNanos]) {
          const nanos = cut < paid.amountNanos - backNanos ? cut : paid.amountNanos - backNanos;
          backMinor += minorGoingBack({ ...paid, backNanos, backMinor }, nanos);
          backNanos += nanos;
          expect(backMinor * paid.amountNanos <= backNanos * paid.chargeMinor).toBe(true);
        }
        expect(backMinor).toBe(paid.chargeMinor);
      }),
    );
  });
});
