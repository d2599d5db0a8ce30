import { expect, test } from 'vitest';
import { backoffMs, doubledMs, jitteredMs } from './backoff.ts';

const backoff = { firstMs: 5_000, maxMs: 900_000 };

test('pauses double from the first up to the bound, however many failures there were', () => {
  const pauses = [1, 2, 3, 4, 8, 9, 50, 1_000_000].map((failures) => doubledMs(backoff, failures));
  expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, 640_000, 900_000, 900_000, 900_000]);
});

test('pauses are spread by a fifth in both directions', () => {
  expect([0, 0.5, 1].map((random) => jitteredMs(1_000, random))).toEqual([800, 1_000, 1_200]);
  expect([0, 0.5, 1].map((random) => backoffMs(backoff, 2, random))).toEqual([8_000, 10_000, 12_000]);
});
