// Events of a group in the last 65 minutes, minute by minute, as the group row keeps them: `minute;count,count,…`, newest first.

const MINUTE_MS = 60_000;
const NOW_MINUTES = 5;
const BEFORE_MINUTES = 60;
const KEPT_MINUTES = NOW_MINUTES + BEFORE_MINUTES;
const EVENTS_MIN = 50;
const TIMES_BEFORE = 10;

export interface RecentCounts {
  /** Minutes since the Unix epoch of the first count. */
  readonly minute: number;
  /** Events of that minute and of those before it; what is not there is 0. */
  readonly counts: readonly number[];
}

export const noRecent: RecentCounts = { minute: 0, counts: [] };

export function parseRecent(text: string): RecentCounts {
  const [minute = '', counts = ''] = text.split(';');
  return { minute: Number(minute), counts: counts === '' ? [] : counts.split(',').map(Number) };
}

export function recentText({ minute, counts }: RecentCounts): string {
  return `${minute};${counts.join(',')}`;
}

/** One event more at `atMs`. An event that is older than the newest is counted in its own minute while that is kept. */
export function addRecent({ minute, counts }: RecentCounts, atMs: number): RecentCounts {
  const at = Math.floor(atMs / MINUTE_MS);
  const ahead = at - minute;
  if (ahead >= KEPT_MINUTES) return { minute: at, counts: [1] };
  if (ahead > 0) return { minute: at, counts: [1, ...zeros(ahead - 1), ...counts].slice(0, KEPT_MINUTES) };
  if (-ahead >= KEPT_MINUTES) return { minute, counts };
  const filled = [...counts, ...zeros(-ahead + 1 - counts.length)];
  filled[-ahead] = (filled[-ahead] as number) + 1;
  return { minute, counts: filled };
}

/** Events of the last 5 minutes and of the 60 before them, seen from the newest minute. */
export function rates({ counts }: RecentCounts): { readonly now: number; readonly before: number } {
  const sum = (part: readonly number[]) => part.reduce((total, count) => total + count, 0);
  return { now: sum(counts.slice(0, NOW_MINUTES)), before: sum(counts.slice(NOW_MINUTES, KEPT_MINUTES)) };
}

/** Contract §9: count(5 min) ≥ 50 and > 10 x count(the 60 min before)/12. */
export function isAnomalous(recent: RecentCounts): boolean {
  const { now, before } = rates(recent);
  return now >= EVENTS_MIN && now > (TIMES_BEFORE * before) / (BEFORE_MINUTES / NOW_MINUTES);
}

function zeros(count: number): number[] {
  return new Array<number>(Math.max(0, count)).fill(0);
}
