// Values of selected series at the steps of a range: the latest sample, or a function over the samples of a range.
import { withoutName } from './labels.ts';
import type { Selector } from './query.ts';
import { LOOKBACK_MS } from './select.ts';
import { type Evaluation, emptyOf, requireDistinct, type Series, type Stepped } from './values.ts';
import { type WindowFunction, windowFunctions } from './windows.ts';

const bits = new DataView(new ArrayBuffer(8));

/** The NaN by which a sender says that a series has ended (Prometheus, value.StaleNaN). A copy of it may be a quiet NaN. */
export function isStale(value: number): boolean {
  if (!Number.isNaN(value)) return false;
  bits.setFloat64(0, value);
  return bits.getUint32(4) === 2 && (bits.getUint32(0) & 0x7ff7ffff) === 0x7ff00000;
}

/** The latest sample at each step that is not older than five minutes. */
export function latest(evaluation: Evaluation, { place, offsetMs }: Selector): readonly Stepped[] {
  const { range, steps, data, budget } = evaluation;
  return (data[place] ?? []).map(({ labels, times, values }) => {
    const made = emptyOf(evaluation, labels);
    let next = 0;
    for (let step = 0; step < steps; step += 1) {
      const atMs = range.startMs + step * range.stepMs - offsetMs;
      while (next < times.length && (times[next] as number) <= atMs) next += 1;
      if (next === 0 || (times[next - 1] as number) < atMs - LOOKBACK_MS) continue;
      const value = values[next - 1] as number;
      if (isStale(value)) continue;
      made.values[step] = value;
      made.has[step] = 1;
    }
    budget.work(times.length);
    return made;
  });
}

/** `param`: of each step, for functions that take a number too. */
export function overRange(
  evaluation: Evaluation,
  name: string,
  selector: Selector,
  param: Float64Array | null,
): readonly Stepped[] {
  const evaluate = windowFunctions[name] as WindowFunction;
  const keepsName = name === 'last_over_time';
  const made = (evaluation.data[selector.place] ?? []).map((series) => {
    const own = emptyOf(evaluation, keepsName ? series.labels : withoutName(series.labels));
    eachWindow(evaluation, selector, series, (step, window) => {
      const value = evaluate(window, param?.[step] ?? 0);
      if (value === null) return;
      own.values[step] = value;
      own.has[step] = 1;
    });
    return own;
  });
  return requireDistinct(made);
}

type Windowed = Parameters<WindowFunction>[0];

function eachWindow(
  { range, steps, budget }: Evaluation,
  { offsetMs, rangeMs }: Selector,
  series: Series,
  use: (step: number, window: Windowed) => void,
): void {
  const { times, values } = withoutStale(series);
  let [from, to] = [0, 0];
  for (let step = 0; step < steps; step += 1) {
    const endMs = range.startMs + step * range.stepMs - offsetMs;
    const startMs = endMs - (rangeMs as number);
    while (to < times.length && (times[to] as number) <= endMs) to += 1;
    while (from < to && (times[from] as number) < startMs) from += 1;
    budget.work(to - from);
    use(step, { times, values, from, to, startMs, endMs });
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
export function rawSamples({ data, range }: Evaluation, { place, offsetMs, rangeMs }: Selector): Series[] {
  const endMs = range.startMs - offsetMs;
  return (data[place] ?? []).flatMap((series) => {
    const { times, values } = withoutStale(series);
    const from = times.findIndex((time) => time >= endMs - (rangeMs as number));
    const to = times.findLastIndex((time) => time <= endMs) + 1;
    return from === -1 || to <= from
      ? []
      : [{ labels: series.labels, times: times.slice(from, to), values: values.slice(from, to) }];
  });
}
