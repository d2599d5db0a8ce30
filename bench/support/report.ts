// Ratios of paired runs: the machine is shared, so what counts is A against B right beside it, and the median of several pairs.

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

export interface Row {
  readonly what: string;
  readonly value: string;
  readonly target?: string;
  readonly met?: boolean;
}

/** Prints a table; a missed target is marked. */
export function print(title: string, rows: readonly Row[]): void {
  process.stdout.write(`\n## ${title}\n\n| what | measured | target | |\n| --- | --- | --- | --- |\n`);
  for (const row of rows) {
    const mark = row.met === undefined ? '' : row.met ? 'met' : 'MISSED';
    process.stdout.write(`| ${row.what} | ${row.value} | ${row.target ?? ''} | ${mark} |\n`);
  }
}

/** A ratio with the lowest and highest of its runs, judged against a least value. */
export function ratioRow(what: string, ratios: readonly number[], atLeast?: number): Row {
  const middle = median(ratios);
  const value = `${middle.toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`;
  return atLeast === undefined ? { what, value } : { what, value, target: `≥ ${atLeast}`, met: middle >= atLeast };
}

export const perSecond = (rate: number) => `${Math.round(rate).toLocaleString('en')}/s`;
