import { expect, test } from 'vitest';
import {
  addCount,
  addHour,
  addRecent,
  countsText,
  isAnomalous,
  lastHours,
  noCounts,
  type PeriodCounts,
  parseCounts,
  rates,
} from './period-counts.ts';

const counted = (periods: readonly number[], from: PeriodCounts = noCounts) =>
  periods.reduce((counts, at) => addCount(counts, at, 5), from);

test('counts survive their text', () => {
  const counts = counted([100, 100, 103]);
  expect(parseCounts(countsText(counts))).toEqual(counts);
  expect(parseCounts(countsText(noCounts))).toEqual(noCounts);
});

test('the last periods stay, newest first, those between them as zeros', () => {
  expect(counted([100, 100, 103])).toEqual({ newest: 103, counts: [1, 0, 0, 2] });
  expect(counted([100, 104])).toEqual({ newest: 104, counts: [1, 0, 0, 0, 1] });
  expect(counted([100, 101, 105])).toEqual({ newest: 105, counts: [1, 0, 0, 0, 1] });
  expect(counted([100, 500])).toEqual({ newest: 500, counts: [1] });
});

test('what comes late counts in its own period, or not at all', () => {
  expect(counted([103, 101])).toEqual({ newest: 103, counts: [1, 0, 1] });
  expect(counted([103, 98])).toEqual({ newest: 103, counts: [1] });
});

const HOUR = 3_600_000;
const START = 1_700_000_000_000;

const at = (hours: readonly number[]) => hours.reduce((counts, hour) => addHour(counts, START + hour * HOUR), noCounts);

test('24 hours, the running one last, against the 24 before them', () => {
  const { sparkline, trend } = lastHours(at([0, 0, 0, 0, 25, 25]), START + 27 * HOUR);
  expect(sparkline).toHaveLength(24);
  expect(sparkline.slice(-4)).toEqual([0, 2, 0, 0]);
  expect(trend).toEqual({ current: 2, previous: 4, change_pct: -50 });
});

test('each hour leaves the sparkline and then the comparison', () => {
  const { trend: inDay } = lastHours(at([0]), START + 23 * HOUR);
  expect(inDay).toEqual({ current: 1, previous: 0, change_pct: null });
  expect(lastHours(at([0]), START + 23 * HOUR).sparkline[0]).toBe(1);
  expect(lastHours(at([0]), START + 24 * HOUR).trend).toEqual({ current: 0, previous: 1, change_pct: -100 });
  expect(lastHours(at([0]), START + 48 * HOUR).trend).toEqual({ current: 0, previous: 0, change_pct: null });
});

const MINUTE = 60_000;

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
