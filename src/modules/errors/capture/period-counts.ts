// Events of a group minute by minute or hour by hour, as its row keeps them: `newest;count,count,…`, newest first.

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
