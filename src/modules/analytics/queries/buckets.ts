// Intervals of time in UTC: hours, days, weeks from Monday, months.
import { DAY_MS, HOUR_MS, startOfMonth, startOfNextMonth } from '../../../lib/time.ts';

export const intervals = ['hour', 'day', 'week', 'month'] as const;
export type Interval = (typeof intervals)[number];

const WEEK_MS = 7 * DAY_MS;
/** 1970-01-05, a Monday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

function startOf(ms: number, interval: Interval): number {
  if (interval === 'month') return startOfMonth(ms);
  if (interval === 'week') return Math.floor((ms - FIRST_MONDAY_MS) / WEEK_MS) * WEEK_MS + FIRST_MONDAY_MS;
  const width = interval === 'day' ? DAY_MS : HOUR_MS;
  return Math.floor(ms / width) * width;
}

export function startOfNext(startMs: number, interval: Interval): number {
  if (interval === 'month') return startOfNextMonth(startMs);
  return startMs + (interval === 'week' ? WEEK_MS : interval === 'day' ? DAY_MS : HOUR_MS);
}

/** Where each interval begins that reaches into the time; at most `most` and one more. */
export function bucketStarts(fromMs: number, toMs: number, interval: Interval, most: number): number[] {
  const starts: number[] = [];
  for (let at = startOf(fromMs, interval); at < toMs && starts.length <= most; at = startOfNext(at, interval))
    starts.push(at);
  return starts;
}

/** The interval that a time lies in: the last one that begins at it or before. */
export function bucketOf(starts: ArrayLike<number>, ms: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] as number) <= ms) low = middle;
    else high = middle - 1;
  }
  return low;
}
