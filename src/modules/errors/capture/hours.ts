// A group's events by clock hour (UTC): the 24 hours that end with the running one, and the 24 before them.
import { HOUR_MS } from '../../../lib/time.ts';
import { addCount, type PeriodCounts, sumOf } from './period-counts.ts';

const SHOWN_HOURS = 24;
const KEPT_HOURS = 2 * SHOWN_HOURS;

export interface Trend {
  readonly current: number;
  readonly previous: number;
  /** Null when there was nothing before. */
  readonly change_pct: number | null;
}

/** One event more at `atMs`. */
export function addHour(hours: PeriodCounts, atMs: number): PeriodCounts {
  return addCount(hours, Math.floor(atMs / HOUR_MS), KEPT_HOURS);
}

/** Events of the shown hours, the running one last, and how they compare with the hours before. */
export function lastHours({ newest, counts }: PeriodCounts, nowMs: number): { sparkline: number[]; trend: Trend } {
  const running = Math.floor(nowMs / HOUR_MS);
  const before = (hours: number) => counts[newest - running + hours] ?? 0;
  const shown = Array.from({ length: SHOWN_HOURS }, (_, i) => before(SHOWN_HOURS - 1 - i));
  const current = sumOf(shown);
  const previous = sumOf(Array.from({ length: SHOWN_HOURS }, (_, i) => before(SHOWN_HOURS + i)));
  const change = previous === 0 ? null : Math.round(((current - previous) / previous) * 1_000) / 10;
  return { sparkline: shown, trend: { current, previous, change_pct: change } };
}
