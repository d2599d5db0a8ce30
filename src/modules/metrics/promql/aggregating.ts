// Aggregations of a vector, step by step: many series to one for each group, or the largest and smallest of them.
import { type Labels, NAME, only, signature, without } from './labels.ts';
import { tooComplex } from './too-complex.ts';
import { type Evaluation, emptyOf, type Stepped } from './values.ts';
import { quantile, staysInfinite } from './windows.ts';

export interface Grouping {
  readonly isBy: boolean;
  readonly labels: readonly string[];
}

interface Group {
  readonly labels: Labels;
  readonly members: Stepped[];
}

/** `param`: of each step; null of aggregations that take none. */
export function aggregate(
  evaluation: Evaluation,
  op: string,
  series: readonly Stepped[],
  grouping: Grouping,
  param: Float64Array | null,
): readonly Stepped[] {
  const groups = groupsOf(series, grouping);
  if (op === 'topk' || op === 'bottomk')
    return groups.flatMap((group) => extremes(evaluation, group, op === 'topk', param as Float64Array));
  return groups.map((group) => reduced(evaluation, op, group, param));
}

function groupsOf(series: readonly Stepped[], { isBy, labels }: Grouping): Group[] {
  const groups = new Map<string, Group>();
  const dropped = [...labels, NAME];
  for (const each of series) {
    const own = isBy ? only(each.labels, labels) : without(each.labels, dropped);
    const key = signature(own);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { labels: own, members: [each] });
    else group.members.push(each);
  }
  return [...groups.values()];
}

function reduced(evaluation: Evaluation, op: string, { labels, members }: Group, param: Float64Array | null): Stepped {
  const made = emptyOf(evaluation, labels);
  const reduce = reducers[op];
  for (let step = 0; step < evaluation.steps; step += 1) {
    const values = presentAt(members, step);
    if (values.length === 0) continue;
    made.values[step] = reduce === undefined ? quantile(param?.[step] ?? 0, Float64Array.from(values)) : reduce(values);
    made.has[step] = 1;
  }
  evaluation.budget.work(evaluation.steps * members.length);
  return made;
}

function presentAt(members: readonly Stepped[], step: number): number[] {
  const values: number[] = [];
  for (const member of members) if (member.has[step] === 1) values.push(member.values[step] as number);
  return values;
}

function average(values: readonly number[]): number {
  let mean = values[0] as number;
  for (let i = 1; i < values.length; i += 1) {
    const value = values[i] as number;
    if (!staysInfinite(mean, value)) mean += value / (i + 1) - mean / (i + 1);
  }
  return mean;
}

/** Welford's: of one value 0, also of one that is infinite. */
function variance(values: readonly number[]): number {
  let mean = values[0] as number;
  let squares = 0;
  for (let i = 1; i < values.length; i += 1) {
    const value = values[i] as number;
    const delta = value - mean;
    mean += delta / (i + 1);
    squares += delta * (value - mean);
  }
  return squares / values.length;
}

const reducers: Readonly<Record<string, (values: readonly number[]) => number>> = {
  sum: (values) => values.reduce((sum, value) => sum + value),
  avg: average,
  count: (values) => values.length,
  group: () => 1,
  min: (values) => values.reduce((least, value) => (value < least || Number.isNaN(least) ? value : least)),
  max: (values) => values.reduce((most, value) => (value > most || Number.isNaN(most) ? value : most)),
  stdvar: variance,
  stddev: (values) => Math.sqrt(variance(values)),
};

/** The k first of each step keep their values; of equal ones those that come first. NaN is neither large nor small: it comes last. */
function extremes(evaluation: Evaluation, { members }: Group, isTop: boolean, counts: Float64Array): Stepped[] {
  const made = members.map(({ labels }) => emptyOf(evaluation, labels));
  for (let step = 0; step < evaluation.steps; step += 1) {
    const k = countOf(counts[step] as number);
    if (k < 1) continue;
    const present = [...members.keys()].filter((i) => members[i]?.has[step] === 1);
    const valueAt = (i: number) => members[i]?.values[step] as number;
    evaluation.budget.work(present.length * 4);
    for (const i of present.sort((a, b) => compared(valueAt(a), valueAt(b), isTop)).slice(0, k)) {
      const own = made[i] as Stepped;
      own.values[step] = valueAt(i);
      own.has[step] = 1;
    }
  }
  return made;
}

function compared(a: number, b: number, isTop: boolean): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  if (a === b) return 0;
  return a < b === isTop ? 1 : -1;
}

function countOf(value: number): number {
  if (Number.isNaN(value) || Math.abs(value) >= 2 ** 63) throw tooComplex(`${value} is no number of series.`);
  return Math.trunc(value);
}
