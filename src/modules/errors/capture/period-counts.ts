// Event counts of a group by minute or by hour, as its row keeps them: `newest;count,count,…`, newest first.
import { HOUR_MS } from '../../../lib/time.ts';

export interface PeriodCounts {
  /** Number of the period of the first count: minutes or hours since the Unix epoch. */
  readonly newest: number;
  /** Events of that period and of those before it; what is not there is 0. */
  readonly counts: readonly number[];
}

export const noCounts: PeriodCounts = { newest: 0, counts: [] };

export function parseCounts(text: string): PeriodCounts {
  const [newest = '', counts = ''] = text.split(';');
  return { newest: Number(newest), counts: counts === '' ? [] : counts.split(',').map(Number) };
}

export function countsText({ newest, counts }: PeriodCounts): string {
  return `${newest};${counts.join(',')}`;
}

/** One event more in period `at`; the last `kept` periods stay. An event older than the newest counts in its own while that is kept. */
export function addCount({ newest, counts }: PeriodCounts, at: number, kept: number): PeriodCounts {
  const ahead = at - newest;
  if (ahead >= kept) return { newest: at, counts: [1] };
  if (ahead > 0) return { newest: at, counts: [1, ...zeros(ahead - 1), ...counts].slice(0, kept) };
  if (-ahead >= kept) return { newest, counts };
  const filled = [...counts, ...zeros(-ahead + 1 - counts.length)];
  filled[-ahead] = (filled[-ahead] as number) + 1;
  return { newest, counts: filled };
}

export function sumOf(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function zeros(count: number): number[] {
  return new Array<number>(Math.max(0, count)).fill(0);
}

// A group's events by clock hour (UTC): the 24 hours that end with the running one, and the 24 before them.

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

// Whether a group has many more events than before: its last 65 minutes.

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

/** Contract of errors: count(5 min) ≥ 50 and > 10 x count(the 60 min before)/12. */
export function isAnomalous(recent: PeriodCounts): boolean {
  const { now, baseline } = rates(recent);
  return now >= EVENTS_MIN && now > TIMES_BEFORE * baseline;
}
