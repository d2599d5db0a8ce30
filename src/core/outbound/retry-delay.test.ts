import { expect, test } from 'vitest';
import { retryDelayMs } from './retry-delay.ts';

test('doubles from five seconds to a quarter of an hour', () => {
  const delays = [1, 2, 3, 4, 8, 9, 50, 1_000_000].map((deliveries) => retryDelayMs(deliveries, null));
  expect(delays).toEqual([5_000, 10_000, 20_000, 40_000, 640_000, 900_000, 900_000, 900_000]);
});

test('what the receiver asks for replaces it, between a second and a quarter of an hour', () => {
  expect([0, 999, 2_500, 900_000, 86_400_000].map((askedMs) => retryDelayMs(7, askedMs))).toEqual([
    1_000, 1_000, 2_500, 900_000, 900_000,
  ]);
});
