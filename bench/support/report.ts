// Ratios of paired runs: the machine is shared, so what counts is A against B right beside it, and the median of several pairs.

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

/** Megabytes a minute, by least squares, of figures taken every so many seconds. */
export function slope(megabytes: readonly number[], everySeconds: number): number {
  const middle = (megabytes.length - 1) / 2;
  const mean = megabytes.reduce((sum, each) => sum + each, 0) / megabytes.length;
  const above = megabytes.reduce((sum, each, i) => sum + (i - middle) * (each - mean), 0);
  const below = megabytes.reduce((sum, _, i) => sum + (i - middle) ** 2, 0);
  return ((above / below) * 60) / everySeconds;
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

/** Of many short turns, paired: the ratio of the medians, and between what the true one lies in 95 of 100 cases. */
export interface Measured {
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 2_000;

/** `pairs`: [a, b] of turns side by side. Answers a / b, its bounds by bootstrap over the pairs. */
export function ratioOfMedians(pairs: Pairs): Measured {
  return bounded(pairs, (some) => median(some.map(([a]) => a)) / median(some.map(([, b]) => b)));
}

/** The same as the median of the pairs' ratios: for a machine whose speed drifts from pair to pair. */
export function medianOfRatios(pairs: Pairs): Measured {
  return bounded(pairs, (some) => median(some.map(([a, b]) => a / b)));
}

type Pairs = readonly (readonly [number, number])[];

function bounded(pairs: Pairs, ratioIn: (some: Pairs) => number): Measured {
  const drawn = Array.from({ length: RESAMPLES }, () =>
    ratioIn(pairs.map(() => pairs[Math.floor(Math.random() * pairs.length)] as (typeof pairs)[number])),
  ).sort((a, b) => a - b);
  const at = (share: number) => drawn[Math.floor(share * RESAMPLES)] as number;
  return { ratio: ratioIn(pairs), low: at(0.025), high: at(0.975) };
}

/** Met only where the lower bound is: a spread that is too wide proves nothing. */
export function boundedRow(what: string, { ratio, low, high }: Measured, atLeast: number): Row {
  const value = `${ratio.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
  return { what, value, target: `lower bound ≥ ${atLeast}`, met: low >= atLeast };
}

export const perSecond = (rate: number) => `${Math.round(rate).toLocaleString('en')}/s`;
