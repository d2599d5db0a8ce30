import { expect, test } from 'vitest';
import { backoffMs, exactBackoffMs, jitteredMs } from './backoff.ts';

const backoff = { firstMs: 5_000, maxMs: 900_000 };

test('pauses double from the first up to the bound, however many failures there were', () => {
  const pauses = [1, 2, 3, 4, 8, 9, 50, 1_000_000].map((failures) => exactBackoffMs(backoff, failures));
  expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, 640_000, 900_000, 900_000, 900_000]);
});

test('a factor says how much longer each pause is', () => {
  const polls = { firstMs: 100, maxMs: 1_000, factor: 1.5 };
  expect([1, 2, 3, 6, 7, 1_000].map((failures) => exactBackoffMs(polls, failures))).toEqual([
    100, 150, 225, 759.375, 1_000, 1_000,
  ]);
});

test('pauses are spread by a fifth in both directions', () => {
  expect([0, 0.5, 1].map((random) => jitteredMs(1_000, random))).toEqual([800, 1_000, 1_200]);
  expect([0, 0.5, 1].map((random) => backoffMs(backoff, 2, random))).toEqual([8_000, 10_000, 12_000]);
});
