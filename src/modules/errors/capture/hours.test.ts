import { expect, test } from 'vitest';
import { addHour, lastHours } from './hours.ts';
import { noCounts } from './period-counts.ts';

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
