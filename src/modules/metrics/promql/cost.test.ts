// What a query may cost decides where it is evaluated: no part of it is left out.
import { expect, test } from 'vitest';
import { costOf } from './cost.ts';
import { parseQuery } from './parse.ts';

const MINUTE_MS = 60_000;
const cost = (text: string, steps: number, series = 1, samples = 0) => {
  const query = parseQuery(text);
  const range = { startMs: 0, endMs: (steps - 1) * MINUTE_MS, stepMs: MINUTE_MS };
  return costOf(query.root, { range, series: query.selectors.map(() => series), samples });
};

test('numbers count at each step, without any series', () => {
  const sums = Array.from({ length: 40 }, () => '1').join('+');
  expect(cost(sums, 11_000)).toBeGreaterThan(40 * 11_000);
  expect(cost('1 + 1', 1)).toBeLessThan(10);
});

test('a join counts each pair of series, and each step of a pair', () => {
  expect(cost('a * on () group_left () b', 10, 100)).toBeGreaterThanOrEqual(100 * 100 * 10);
  expect(cost('a * 2', 10, 100)).toBeLessThan(100 * 100 * 10);
});

test('samples count in each window that they lie in', () => {
  expect(cost('rate(a[1d])', 1_000, 1, 50_000)).toBeGreaterThan(1_000 * 5_000);
  expect(cost('rate(a[1m])', 1_000, 1, 50_000)).toBeLessThan(20_000);
  expect(cost('quantile_over_time(0.5, a[1d])', 1_000, 1, 50_000)).toBeGreaterThan(1_000 * 50_000);
});
