// Values of selected series at the steps of a range: the latest sample, or a function over the samples of a range.
import { type Labels, withoutName } from './labels.ts';
import type { Modified, Selector } from './query.ts';
import { fixedTime, LOOKBACK_MS } from './select.ts';
import { type Evaluation, emptyOf, requireDistinct, type Series, type Stepped } from './values.ts';
import { type WindowFunction, windowFunctions } from './windows.ts';

const bits = new DataView(new ArrayBuffer(8));

/** The NaN by which a sender says that a series has ended (Prometheus, value.StaleNaN). A copy of it may be a quiet NaN. */
export function isStale(value: number): boolean {
  if (!Number.isNaN(value)) return false;
  bits.setFloat64(0, value);
  return bits.getUint32(4) === 2 && (bits.getUint32(0) & 0x7ff7ffff) === 0x7ff00000;
}

/** When what is modified is evaluated for a step: at the step, or where `@` fixes it; without its offset. */
function timeAt({ range, query }: Evaluation, modified: Modified): (step: number) => number {
  const fixedMs = fixedTime(modified, query);
  return fixedMs === null ? (step) => range.startMs + step * range.stepMs : () => fixedMs;
}

/** The latest sample at each step that is not older than five minutes; `as`: its value, or its time in seconds. */
export function latest(evaluation: Evaluation, selector: Selector, as: 'value' | 'time' = 'value'): readonly Stepped[] {
  const { steps, data, budget } = evaluation;
  const { place, offsetMs } = selector;
  const at = timeAt(evaluation, selector);
  return (data[place] ?? []).map(({ labels, times, values }) => {
    const made = emptyOf(evaluation, labels);
    let next = 0;
    for (let step = 0; step < steps; step += 1) {
      const atMs = at(step) - offsetMs;
      while (next < times.length && (times[next] as number) <= atMs) next += 1;
      if (next === 0 || (times[next - 1] as number) < atMs - LOOKBACK_MS) continue;
      const value = values[next - 1] as number;
      if (isStale(value)) continue;
      made.values[step] = as === 'value' ? value : (times[next - 1] as number) / 1_000;
      made.has[step] = 1;
    }
    budget.work(times.length);
    return made;
  });
}

/** The samples that a range is chosen from: of a selector, or what a subquery answered. */
export interface Ranged extends Modified {
  readonly rangeMs: number;
  readonly series: readonly Series[];
}

/** `params`: of each step, for functions that take numbers too. */
export function overRange(
  evaluation: Evaluation,
  name: string,
  ranged: Ranged,
  params: readonly Float64Array[],
): readonly Stepped[] {
  const evaluate = windowFunctions[name] as WindowFunction;
  const keepsName = name === 'last_over_time';
  const made = ranged.series.map((series) => {
    const own = emptyOf(evaluation, keepsName ? series.labels : withoutName(series.labels));
    eachWindow(evaluation, ranged, series, (step, window) => {
      const value = evaluate(window, params.length === 0 ? none : params.map((of) => of[step] as number));
      if (value === null) return;
      own.values[step] = value;
      own.has[step] = 1;
    });
    return own;
  });
  return requireDistinct(made);
}

const none: readonly number[] = [];

/** 1 at each step whose range has no sample of any series. */
export function absentOverRange(evaluation: Evaluation, ranged: Ranged, labels: Labels): readonly Stepped[] {
  const own = emptyOf(evaluation, labels);
  own.values.fill(1);
  own.has.fill(1);
  for (const series of ranged.series) {
    eachWindow(evaluation, ranged, series, (step, { from, to }) => {
      if (to > from) own.has[step] = 0;
    });
  }
  return [own];
}

type Windowed = Parameters<WindowFunction>[0];

function eachWindow(
  evaluation: Evaluation,
  ranged: Ranged,
  series: Series,
  use: (step: number, window: Windowed) => void,
): void {
  const { range, steps, budget } = evaluation;
  const { offsetMs, rangeMs } = ranged;
  const at = timeAt(evaluation, ranged);
  const { times, values } = withoutStale(series);
  let [from, to] = [0, 0];
  for (let step = 0; step < steps; step += 1) {
    const endMs = at(step) - offsetMs;
    const startMs = endMs - rangeMs;
    while (to < times.length && (times[to] as number) <= endMs) to += 1;
    while (from < to && (times[from] as number) < startMs) from += 1;
    budget.work(to - from);
    use(step, { times, values, from, to, startMs, endMs, atMs: range.startMs + step * range.stepMs });
  }
}

function withoutStale({ times, values }: Series): Pick<Series, 'times' | 'values'> {
  if (!values.some(isStale)) return { times, values };
  const kept = Array.from(values.keys()).filter((i) => !isStale(values[i] as number));
  return {
    times: Float64Array.from(kept, (i) => times[i] as number),
    values: Float64Array.from(kept, (i) => values[i] as number),
  };
}

/** The samples that a range chooses at one time. */
export function rawSamples(evaluation: Evaluation, ranged: Ranged): Series[] {
  const { offsetMs, rangeMs } = ranged;
  const endMs = timeAt(evaluation, ranged)(0) - offsetMs;
  return ranged.series.flatMap((series) => {
    const { times, values } = withoutStale(series);
    const from = times.findIndex((time) => time >= endMs - rangeMs);
    const to = times.findLastIndex((time) => time <= endMs) + 1;
    return from === -1 || to <= from
      ? []
      : [{ labels: series.labels, times: times.slice(from, to), values: values.slice(from, to) }];
  });
}
