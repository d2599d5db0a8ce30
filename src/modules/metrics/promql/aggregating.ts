// Aggregation operators, step by step: the series of a group become one, or its largest and smallest are kept.
import { executionError } from './execution-error.ts';
import { type Labels, NAME, only, signature, withLabel, without } from './labels.ts';
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

/** How many series of a group have each value, which becomes a label. */
export function countValues(
  evaluation: Evaluation,
  series: readonly Stepped[],
  { isBy, labels }: Grouping,
  label: string,
): readonly Stepped[] {
  const made = new Map<string, Stepped>();
  for (const each of series) {
    const group = isBy ? only(each.labels, labels) : without(each.labels, [...labels, NAME]);
    evaluation.budget.work(evaluation.steps);
    for (let step = 0; step < evaluation.steps; step += 1) {
      if (each.has[step] === 0) continue;
      const text = decimalText(each.values[step] as number);
      const own = withLabel(group, label, text);
      const key = signature(own);
      let counted = made.get(key);
      if (counted === undefined) {
        evaluation.budget.write(text.length);
        counted = emptyOf(evaluation, own);
        made.set(key, counted);
      }
      counted.values[step] = (counted.values[step] as number) + 1;
      counted.has[step] = 1;
    }
  }
  return [...made.values()];
}

/** Without an exponent, as Go's FormatFloat(value, 'f', -1, 64). */
function decimalText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  const text = Object.is(value, -0) ? '-0' : String(value);
  const [, sign = '', whole = '', fraction = '', exponent] = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? [];
  if (exponent === undefined) return text;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return `${sign}${digits.padEnd(point, '0')}`;
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
  return groups.map((group) => reduceGroup(evaluation, op, group, param));
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

function reduceGroup(
  evaluation: Evaluation,
  op: string,
  { labels, members }: Group,
  param: Float64Array | null,
): Stepped {
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
 * The k largest or smallest of each step keep their values. Which of equal ones do, and in which order one step has them, is decided as in
 * Prometheus 2.42 (promql/engine.go, container/heap): a heap of k has the worst on top, which leaves before a better one comes.
 */
function extremes(evaluation: Evaluation, { members }: Group, isTop: boolean, counts: Float64Array): Stepped[] {
  const made = members.map(({ labels }) => emptyOf(evaluation, labels));
  let kept: readonly number[] = [];
  for (let step = 0; step < evaluation.steps; step += 1) {
    const k = countOf(counts[step] as number);
    if (k < 1) continue;
    const valueAt = (i: number) => members[i]?.values[step] as number;
    const isWorse = isTop
      ? (a: number, b: number) => Number.isNaN(valueAt(a)) || valueAt(a) < valueAt(b)
      : (a: number, b: number) => Number.isNaN(valueAt(a)) || valueAt(a) > valueAt(b);
    const heap = new WorstFirst(isWorse);
    for (const i of members.keys()) {
      if (members[i]?.has[step] !== 1) continue;
      evaluation.budget.work(4);
      if (heap.items.length === k) {
        if (!isWorse(heap.items[0] as number, i)) continue;
        heap.pop();
      }
      heap.push(i);
    }
    kept = bestFirst(heap.items, isWorse);
    for (const i of kept) {
      const own = made[i] as Stepped;
      own.values[step] = valueAt(i);
      own.has[step] = 1;
    }
  }
  return evaluation.steps === 1 ? kept.map((i) => made[i] as Stepped) : made;
}

type IsWorse = (a: number, b: number) => boolean;
/** So many Go's sort.Sort sorts by insertion, which decides the order of equal values. Of more it shuffles some; here equal ones stay in order. */
const INSERTED_MAX = 12;

function bestFirst(items: readonly number[], isWorse: IsWorse): readonly number[] {
  if (items.length > INSERTED_MAX) return items.toSorted((a, b) => Number(isWorse(a, b)) - Number(isWorse(b, a)));
  const sorted: number[] = [];
  for (const item of items) {
    let at = sorted.length;
    while (at > 0 && isWorse(sorted[at - 1] as number, item)) at -= 1;
    sorted.splice(at, 0, item);
  }
  return sorted;
}

/** Go's container/heap. */
class WorstFirst {
  readonly items: number[] = [];
  readonly #isWorse: IsWorse;

  constructor(isWorse: IsWorse) {
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

  /** Takes the top away. */
  pop(): void {
    const last = this.items.pop() as number;
    if (this.items.length === 0) return;
    this.items[0] = last;
    let at = 0;
    while (2 * at + 1 < this.items.length) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const isRight =
        right < this.items.length && this.#isWorse(this.items[right] as number, this.items[left] as number);
      const child = isRight ? right : left;
      if (!this.#isWorse(this.items[child] as number, last)) break;
      this.#swap(at, child);
      at = child;
    }
  }

  #swap(a: number, b: number): void {
    [this.items[a], this.items[b]] = [this.items[b] as number, this.items[a] as number];
  }
}

function countOf(value: number): number {
  if (Number.isNaN(value) || Math.abs(value) >= 2 ** 63) throw executionError(`${value} is no number of series.`);
  return Math.trunc(value);
}
