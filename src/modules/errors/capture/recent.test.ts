import { expect, test } from 'vitest';
import { noCounts } from './period-counts.ts';
import { addRecent, isAnomalous, rates } from './recent.ts';

const MINUTE = 60_000;
const START = 1_700_000_000_000;

function events(times: readonly number[]) {
  return times.reduce((recent, minutes) => addRecent(recent, START + minutes * MINUTE), noCounts);
}
const many = (count: number, minutes: number) => new Array<number>(count).fill(minutes);

test('the last 5 minutes and the 60 before', () => {
  expect(rates(events([0, 0, 3, 7, 7]))).toEqual({ now: 3, baseline: 2 / 12 });
  expect(rates(events([...many(9, 0), 64]))).toEqual({ now: 1, baseline: 9 / 12 });
  expect(rates(events([...many(9, 0), 65]))).toEqual({ now: 1, baseline: 0 });
  expect(rates(events([0, 500]))).toEqual({ now: 1, baseline: 0 });
});

test('an event that comes late counts in its own minute, or not at all', () => {
  expect(rates(events([10, 4, 4]))).toEqual({ now: 1, baseline: 2 / 12 });
  expect(rates(events([70, 0]))).toEqual({ now: 1, baseline: 0 });
});

test('an anomaly is 50 events, and more than ten times the rate before', () => {
  expect(isAnomalous(events(many(49, 0)))).toBe(false);
  expect(isAnomalous(events(many(50, 0)))).toBe(true);
  // 60 in the hour before are 5 in 5 minutes: 50 are not more than ten times that, 51 are.
  expect(isAnomalous(events([...many(60, 0), ...many(50, 30)]))).toBe(false);
  expect(isAnomalous(events([...many(60, 0), ...many(51, 30)]))).toBe(true);
});
