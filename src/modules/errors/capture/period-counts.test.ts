import { expect, test } from 'vitest';
import { addCount, countsText, noCounts, type PeriodCounts, parseCounts } from './period-counts.ts';

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
