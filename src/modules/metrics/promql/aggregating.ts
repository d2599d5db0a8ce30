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

/**
 * The k largest or smallest of each step keep their values. Which of equal ones do is decided as in Prometheus 2.42 (promql/engine.go,
 * container/heap): a heap of k has the worst on top, and a better one takes its place.
 */
function extremes(evaluation: Evaluation, { members }: Group, isTop: boolean, counts: Float64Array): Stepped[] {
  const made = members.map(({ labels }) => emptyOf(evaluation, labels));
  for (let step = 0; step < evaluation.steps; step += 1) {
    const k = countOf(counts[step] as number);
    if (k < 1) continue;
    const valueAt = (i: number) => members[i]?.values[step] as number;
    const heap = new WorstFirst((a, b) => isWorse(valueAt(a), valueAt(b), isTop));
    for (const i of members.keys()) {
      if (members[i]?.has[step] !== 1) continue;
      evaluation.budget.work(4);
      if (heap.items.length < k) heap.push(i);
      else if (isBetter(valueAt(i), valueAt(heap.items[0] as number), isTop)) heap.replaceTop(i);
    }
    for (const i of heap.items) {
      const own = made[i] as Stepped;
      own.values[step] = valueAt(i);
      own.has[step] = 1;
    }
  }
  return made;
}

function isWorse(a: number, b: number, isTop: boolean): boolean {
  return Number.isNaN(a) || (isTop ? a < b : a > b);
}

function isBetter(value: number, top: number, isTop: boolean): boolean {
  return (isTop ? top < value : top > value) || (Number.isNaN(top) && !Number.isNaN(value));
}

/** Go's container/heap. */
class WorstFirst {
  readonly items: number[] = [];
  readonly #isWorse: (a: number, b: number) => boolean;

  constructor(isWorse: (a: number, b: number) => boolean) {
    this.#isWorse = isWorse;
  }

  push(item: number): void {
    let at = this.items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isWorse(item, this.items[parent] as number)) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  replaceTop(item: number): void {
    this.items[0] = item;
    let at = 0;
    while (2 * at + 1 < this.items.length) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const isRight =
        right < this.items.length && this.#isWorse(this.items[right] as number, this.items[left] as number);
      const child = isRight ? right : left;
      if (!this.#isWorse(this.items[child] as number, item)) break;
      this.#swap(at, child);
      at = child;
    }
  }

  #swap(a: number, b: number): void {
    [this.items[a], this.items[b]] = [this.items[b] as number, this.items[a] as number];
  }
}

function countOf(value: number): number {
  if (Number.isNaN(value) || Math.abs(value) >= 2 ** 63) throw tooComplex(`${value} is no number of series.`);
  return Math.trunc(value);
}
