// Functions over the samples of a range. Their arithmetic follows Prometheus 2.42 (promql/functions.go) step by step, so answers are equal to
// the last bit.
import { executionError } from './execution-error.ts';

/** The samples from `from` until before `to`, and the range that they were chosen by. */
export interface Window {
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly from: number;
  readonly to: number;
  readonly startMs: number;
  readonly endMs: number;
  /** Of the step, whatever the offset. */
  readonly atMs: number;
}

/** `params`: the numbers among the arguments. Null: no value. */
export type WindowFunction = (window: Window, params: readonly number[]) => number | null;

const at = (values: Float64Array, i: number) => values[i] as number;

/** An increase as far as the range reaches, not only from its first to its last sample. */
function extrapolatedIncrease(
  { times, values, from, to, startMs, endMs }: Window,
  isCounter: boolean,
  isRate: boolean,
): number | null {
  if (to - from < 2) return null;
  const [first, last] = [from, to - 1];
  let increase = at(values, last) - at(values, first);
  if (isCounter) {
    for (let i = from + 1; i < to; i += 1) if (at(values, i) < at(values, i - 1)) increase += at(values, i - 1);
  }
  let toStart = (at(times, first) - startMs) / 1_000;
  const toEnd = (endMs - at(times, last)) / 1_000;
  const sampled = (at(times, last) - at(times, first)) / 1_000;
  const between = sampled / (to - from - 1);
  if (isCounter && increase > 0 && at(values, first) >= 0) {
    // A counter was not below zero before its first sample.
    const toZero = sampled * (at(values, first) / increase);
    if (toZero < toStart) toStart = toZero;
  }
  const threshold = between * 1.1;
  let reach = sampled;
  reach += toStart < threshold ? toStart : between / 2;
  reach += toEnd < threshold ? toEnd : between / 2;
  let factor = reach / sampled;
  if (isRate) factor /= (endMs - startMs) / 1_000;
  return increase * factor;
}

function instantRate({ times, values, from, to }: Window): number | null {
  if (to - from < 2) return null;
  const [last, before] = [at(values, to - 1), at(values, to - 2)];
  const apartMs = at(times, to - 1) - at(times, to - 2);
  if (apartMs === 0) return null;
  return (last < before ? last : last - before) / (apartMs / 1_000);
}

/** Neumaier's sum: what the sum loses is kept beside it. */
class ExactSum {
  sum = 0;
  lost = 0;

  add(value: number): void {
    const sum = this.sum + value;
    this.lost += Math.abs(this.sum) >= Math.abs(value) ? this.sum - sum + value : value - sum + this.sum;
    this.sum = sum;
  }

  get value(): number {
    return this.sum + this.lost;
  }
}

function sum({ values, from, to }: Window): number {
  const exact = new ExactSum();
  for (let i = from; i < to; i += 1) exact.add(at(values, i));
  return Math.abs(exact.sum) === Number.POSITIVE_INFINITY ? exact.sum : exact.value;
}

function average({ values, from, to }: Window): number {
  const mean = new ExactSum();
  let count = 0;
  for (let i = from; i < to; i += 1) {
    const value = at(values, i);
    count += 1;
    if (staysInfinite(mean.sum, value)) continue;
    mean.add(value / count - mean.sum / count);
  }
  return Math.abs(mean.sum) === Number.POSITIVE_INFINITY ? mean.sum : mean.value;
}

/** An infinite mean stays what it is, unless the opposite infinity or NaN comes. */
export function staysInfinite(mean: number, value: number): boolean {
  if (Math.abs(mean) !== Number.POSITIVE_INFINITY) return false;
  return value === mean || Number.isFinite(value);
}

function variance({ values, from, to }: Window): number {
  const [mean, squares] = [new ExactSum(), new ExactSum()];
  let count = 0;
  for (let i = from; i < to; i += 1) {
    const value = at(values, i);
    count += 1;
    const delta = value - mean.value;
    mean.add(delta / count);
    squares.add(delta * (value - mean.value));
  }
  return squares.value / count;
}

function least({ values, from, to }: Window): number {
  let found = at(values, from);
  for (let i = from; i < to; i += 1) if (at(values, i) < found || Number.isNaN(found)) found = at(values, i);
  return found;
}

function most({ values, from, to }: Window): number {
  let found = at(values, from);
  for (let i = from; i < to; i += 1) if (at(values, i) > found || Number.isNaN(found)) found = at(values, i);
  return found;
}

/** Between two values the weighted mean of both; NaN comes before all numbers. */
export function quantile(q: number, values: Float64Array): number {
  if (values.length === 0 || Number.isNaN(q)) return Number.NaN;
  if (q < 0) return Number.NEGATIVE_INFINITY;
  if (q > 1) return Number.POSITIVE_INFINITY;
  const sorted = values.toSorted((a, b) =>
    Number.isNaN(a) ? (Number.isNaN(b) ? 0 : -1) : Number.isNaN(b) ? 1 : a < b ? -1 : Number(a > b),
  );
  const rank = q * (sorted.length - 1);
  const lower = Math.max(0, Math.floor(rank));
  const upper = Math.min(sorted.length - 1, lower + 1);
  const weight = rank - Math.floor(rank);
  return at(sorted, lower) * (1 - weight) + at(sorted, upper) * weight;
}

function lastDifference({ values, from, to }: Window): number | null {
  return to - from < 2 ? null : at(values, to - 1) - at(values, to - 2);
}

function countChanges({ values, from, to }: Window): number {
  let changes = 0;
  for (let i = from + 1; i < to; i += 1) {
    const [before, value] = [at(values, i - 1), at(values, i)];
    if (value !== before && !(Number.isNaN(value) && Number.isNaN(before))) changes += 1;
  }
  return changes;
}

function countResets({ values, from, to }: Window): number {
  let resets = 0;
  for (let i = from + 1; i < to; i += 1) if (at(values, i) < at(values, i - 1)) resets += 1;
  return resets;
}

/** By least squares; of values that are all the same 0 a second. `originMs`: where the intercept lies. */
function linearRegression({ times, values, from, to }: Window, originMs: number) {
  const first = at(values, from);
  const [x, y, xy, xx] = [new ExactSum(), new ExactSum(), new ExactSum(), new ExactSum()];
  let isConstant = true;
  for (let i = from; i < to; i += 1) {
    const [seconds, value] = [(at(times, i) - originMs) / 1_000, at(values, i)];
    if (value !== first) isConstant = false;
    x.add(seconds);
    y.add(value);
    xy.add(seconds * value);
    xx.add(seconds * seconds);
  }
  if (isConstant)
    return Number.isFinite(first) ? { slope: 0, intercept: first } : { slope: Number.NaN, intercept: Number.NaN };
  const count = to - from;
  const slope = (xy.value - (x.value * y.value) / count) / (xx.value - (x.value * x.value) / count);
  return { slope, intercept: y.value / count - (slope * x.value) / count };
}

function slopeOf(window: Window): number | null {
  if (window.to - window.from < 2) return null;
  return linearRegression(window, at(window.times, window.from)).slope;
}

function predict(window: Window, [seconds]: readonly number[]): number | null {
  if (window.to - window.from < 2) return null;
  const { slope, intercept } = linearRegression(window, window.atMs);
  return slope * (seconds as number) + intercept;
}

/** Holt and Winters' double exponential smoothing. */
function smooth({ values, from, to }: Window, [smoothing, trendFactor]: readonly number[]): number | null {
  if (to === from) return null;
  const [sf, tf] = [requireFactor('smoothing', smoothing as number), requireFactor('trend', trendFactor as number)];
  if (to - from < 2) return null;
  let before = 0;
  let level = at(values, from);
  let trend = at(values, from + 1) - level;
  for (let i = from + 1; i < to; i += 1) {
    if (i > from + 1) trend = tf * (level - before) + (1 - tf) * trend;
    const next = sf * at(values, i) + (1 - sf) * (level + trend);
    before = level;
    level = next;
  }
  return level;
}

function requireFactor(name: string, factor: number): number {
  if (factor > 0 && factor < 1) return factor;
  throw executionError(`holt_winters has a ${name} factor of ${factor}; it must be between 0 and 1.`);
}

const some =
  (of: (window: Window) => number): WindowFunction =>
  (window) =>
    window.to === window.from ? null : of(window);

export const windowFunctions: Readonly<Record<string, WindowFunction>> = {
  rate: (window) => extrapolatedIncrease(window, true, true),
  increase: (window) => extrapolatedIncrease(window, true, false),
  delta: (window) => extrapolatedIncrease(window, false, false),
  irate: instantRate,
  sum_over_time: some(sum),
  avg_over_time: some(average),
  min_over_time: some(least),
  max_over_time: some(most),
  count_over_time: some(({ from, to }) => to - from),
  last_over_time: some(({ values, to }) => at(values, to - 1)),
  present_over_time: some(() => 1),
  stdvar_over_time: some(variance),
  stddev_over_time: some((window) => Math.sqrt(variance(window))),
  quantile_over_time: (window, [q]) =>
    window.to === window.from ? null : quantile(q as number, window.values.slice(window.from, window.to)),
  idelta: lastDifference,
  changes: some(countChanges),
  resets: some(countResets),
  deriv: slopeOf,
  predict_linear: predict,
  holt_winters: smooth,
};
