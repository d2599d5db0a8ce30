// Whether a group has many more events than before: its last 65 minutes.
import { addCount, type PeriodCounts, sumOf } from './period-counts.ts';

const MINUTE_MS = 60_000;
const NOW_MINUTES = 5;
const BEFORE_MINUTES = 60;
const KEPT_MINUTES = NOW_MINUTES + BEFORE_MINUTES;
const EVENTS_MIN = 50;
const TIMES_BEFORE = 10;

/** One event more at `atMs`. */
export function addRecent(recent: PeriodCounts, atMs: number): PeriodCounts {
  return addCount(recent, Math.floor(atMs / MINUTE_MS), KEPT_MINUTES);
}

/** Events of the last 5 minutes, and in 5 minutes of the 60 before them, seen from the newest minute. */
export function rates({ counts }: PeriodCounts): { readonly now: number; readonly baseline: number } {
  const before = sumOf(counts.slice(NOW_MINUTES, KEPT_MINUTES));
  return { now: sumOf(counts.slice(0, NOW_MINUTES)), baseline: before / (BEFORE_MINUTES / NOW_MINUTES) };
}

/** Contract §9: count(5 min) ≥ 50 and > 10 x count(the 60 min before)/12. */
export function isAnomalous(recent: PeriodCounts): boolean {
  const { now, baseline } = rates(recent);
  return now >= EVENTS_MIN && now > TIMES_BEFORE * baseline;
}
