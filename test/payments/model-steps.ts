// What may happen to credit, in random histories of it.
import fc from 'fast-check';
import type { Currency } from '../../src/vendors/payments/port.ts';

const share = fc.integer({ min: 1, max: 100 });
const pick = fc.nat({ max: 1_000 });
export const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('charge' as const), micros: fc.integer({ min: 1, max: 8_000_000 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('hold' as const), micros: fc.integer({ min: 1, max: 6_000_000 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('settle' as const), which: pick, share: fc.integer({ min: 0, max: 100 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('topup' as const),
      cents: fc.integer({ min: 500, max: 2_000 }),
      currency: fc.constantFrom<Currency>('USD', 'EUR', 'JPY', 'CNY'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('promo' as const),
      micros: fc.integer({ min: 1, max: 4_000_000 }),
      days: fc.integer({ min: 1, max: 9 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('recharge' as const), cents: fc.integer({ min: 500, max: 2_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('goOver' as const), usd: fc.integer({ min: 0, max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('refund' as const), which: pick, share }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('refundElsewhere' as const), which: pick, share }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('dispute' as const), which: pick, share }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('close' as const), which: pick, won: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('bounce' as const), which: pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 4 }) }) },
);
export type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
