// Binary operators between scalars and vectors. The series of two vectors are matched at each step, as in Prometheus 2.42 (promql/engine.go,
// VectorBinop).
import { executionError } from './execution-error.ts';
import { type Labels, labelsText, NAME, only, signature, withLabel, without, withoutName } from './labels.ts';
import { comparisons, type Matching } from './query.ts';
import { type Evaluation, emptyOf, joinEqual, type Stepped } from './values.ts';

type Operate = (left: number, right: number) => number;

const arithmetic: Readonly<Record<string, Operate>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '%': (left, right) => left % right,
  '^': power,
  atan2: Math.atan2,
};
const compare: Readonly<Record<string, (left: number, right: number) => boolean>> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '>': (left, right) => left > right,
  '<': (left, right) => left < right,
  '>=': (left, right) => left >= right,
  '<=': (left, right) => left <= right,
};

/** Go's Pow, which differs from JavaScript's where the base is 1 or -1. */
function power(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && Math.abs(exponent) === Number.POSITIVE_INFINITY)) return 1;
  return base ** exponent;
}

/** A value, or null for what a comparison drops. `kept`: what a comparison keeps. */
function applyOperator(op: string, left: number, right: number, isBool: boolean, kept = left): number | null {
  const operate = arithmetic[op];
  if (operate !== undefined) return operate(left, right);
  const holds = compare[op]?.(left, right) === true;
  if (isBool) return Number(holds);
  return holds ? kept : null;
}

export function numbersOf(op: string, left: Float64Array, right: Float64Array): Float64Array {
  return left.map((value, step) => applyOperator(op, value, right[step] as number, true) as number);
}

/** A vector beside a number of each step. `isSwapped`: the number stands first. */
export function vectorAndNumber(
  evaluation: Evaluation,
  op: string,
  series: readonly Stepped[],
  number: Float64Array,
  { isBool, isSwapped }: { readonly isBool: boolean; readonly isSwapped: boolean },
): readonly Stepped[] {
  const keepsName = keepsMetricName(op, isBool);
  const made = series.map(({ labels, values, has }) => {
    const own = emptyOf(evaluation, keepsName ? labels : withoutName(labels));
    for (let step = 0; step < own.values.length; step += 1) {
      if (has[step] === 0) continue;
      const [value, other] = [values[step] as number, number[step] as number];
      setValue(
        own,
        step,
        isSwapped ? applyOperator(op, other, value, isBool, value) : applyOperator(op, value, other, isBool),
      );
    }
    return own;
  });
  return joinEqual(made);
}

/** A comparison keeps what it looks at; that atan2 does is Prometheus' own. */
function keepsMetricName(op: string, isBool: boolean): boolean {
  return (comparisons.has(op) && !isBool) || op === 'atan2';
}

function setValue(series: Stepped, step: number, value: number | null): void {
  if (value === null) return;
  series.values[step] = value;
  series.has[step] = 1;
}

function keyOf(labels: Labels, { isOn, labels: names }: Matching): string {
  return signature(isOn ? only(labels, names) : without(labels, [...names, NAME]));
}

export function vectorAndVector(
  evaluation: Evaluation,
  op: string,
  left: readonly Stepped[],
  right: readonly Stepped[],
  { isBool, matching }: { readonly isBool: boolean; readonly matching: Matching },
): readonly Stepped[] {
  const isSwapped = matching.group === 'right';
  const [many, one] = isSwapped ? [right, left] : [left, right];
  const ones = Map.groupBy(one, ({ labels }) => keyOf(labels, matching));
  requireOne(ones, isSwapped ? 'left' : 'right', many, evaluation.steps);
  const pairs = many.flatMap((manySide) => {
    const key = keyOf(manySide.labels, matching);
    const others = ones.get(key) ?? [];
    evaluation.budget.work(others.length);
    return others.map((oneSide) => ({ manySide, oneSide, key }));
  });
  const made = pairs.map(({ manySide, oneSide, key }) => {
    const labels = resultLabels(manySide.labels, oneSide.labels, op, isBool, matching);
    const own = emptyOf(evaluation, labels);
    for (let step = 0; step < own.values.length; step += 1) {
      if (manySide.has[step] === 0 || oneSide.has[step] === 0) continue;
      const [a, b] = [manySide.values[step] as number, oneSide.values[step] as number];
      setValue(own, step, isSwapped ? applyOperator(op, b, a, isBool) : applyOperator(op, a, b, isBool));
    }
    return { own, key };
  });
  if (matching.group === null) requireOneToOne(made);
  return joinEqual(made.map(({ own }) => own));
}

/** On one side each group has at most one series at a step, where the other side has any at all. */
function requireOne(
  ones: ReadonlyMap<string, readonly Stepped[]>,
  side: string,
  many: readonly Stepped[],
  steps: number,
): void {
  for (const group of ones.values()) {
    if (group.length < 2) continue;
    for (let step = 0; step < steps; step += 1) {
      const there = group.filter(({ has }) => has[step] === 1);
      if (there.length < 2 || !many.some(({ has }) => has[step] === 1)) continue;
      const [a, b] = there.map(({ labels }) => labelsText(labels).slice(0, 150));
      throw executionError(`On the ${side} side ${a} and ${b} match the same series.`);
    }
  }
}

function requireOneToOne(made: readonly { readonly own: Stepped; readonly key: string }[]): void {
  for (const group of Map.groupBy(made, ({ key }) => key).values()) {
    if (group.length < 2) continue;
    const taken = new Uint8Array(group[0]?.own.has.length ?? 0);
    for (const { own } of group) {
      for (const [step, has] of own.has.entries()) {
        if (has === 0) continue;
        if (taken[step] === 1)
          throw executionError('Several series match one: say which side has more by group_left or group_right.');
        taken[step] = 1;
      }
    }
  }
}

function resultLabels(many: Labels, one: Labels, op: string, isBool: boolean, matching: Matching): Labels {
  const { isOn, labels, group, included } = matching;
  let result = keepsMetricName(op, isBool) ? many : withoutName(many);
  if (group === null) result = isOn ? only(result, labels) : without(result, labels);
  for (const label of included) result = withLabel(result, label, one.get(label) ?? '');
  return result;
}

/** `and`, `or`, `unless`: series by their labels alone. */
export function setOperation(
  evaluation: Evaluation,
  op: string,
  left: readonly Stepped[],
  right: readonly Stepped[],
  matching: Matching,
): readonly Stepped[] {
  const presence = (series: readonly Stepped[]) => {
    const there = new Map<string, Uint8Array>();
    for (const { labels, has } of series) {
      const key = keyOf(labels, matching);
      const known = there.get(key);
      there.set(key, known === undefined ? has : known.map((each, step) => each | (has[step] as number)));
    }
    return there;
  };
  const keepWhere = (series: readonly Stepped[], others: ReadonlyMap<string, Uint8Array>, whereThere: number) =>
    series.map(({ labels, values, has }) => {
      evaluation.budget.take(evaluation.steps);
      const other = others.get(keyOf(labels, matching));
      return {
        labels,
        values: values.slice(),
        has: has.map((each, step) => each & Number((other?.[step] ?? 0) === whereThere)),
      };
    });
  if (op === 'and') return keepWhere(left, presence(right), 1);
  if (op === 'unless') return keepWhere(left, presence(right), 0);
  return joinEqual([...left.map(copySeries), ...keepWhere(right, presence(left), 0)]);
}

/** Joining writes into the first of equal series. */
const copySeries = ({ labels, values, has }: Stepped): Stepped => ({
  labels,
  values: values.slice(),
  has: has.slice(),
});
