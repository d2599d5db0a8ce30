// Evaluator of a query over series already read for it. Pure: no database, and no clock but that of its deadline. It runs in threads.
import { aggregate } from './aggregating.ts';
import { numbersOf, setOperation, vectorAndNumber, vectorAndVector } from './binary.ts';
import { Expressions } from './expressions.ts';
import { type Labels, withoutName } from './labels.ts';
import { histogramQuantile, labelReplaced, mapValues } from './mapping.ts';
import { type Expression, type Node, type Selector, setOps } from './query.ts';
import { type QueryRange, stepsOf } from './select.ts';
import { latest, overRange, rawSamples } from './selecting.ts';
import { tooComplex } from './too-complex.ts';
import { typeOf } from './types.ts';
import { type Bounds, Budget, type Evaluation, requireDistinct, type Series, type Stepped } from './values.ts';
import { windowFunctions } from './windows.ts';

/** A series of the answer with the samples that it has; an instant query has one of each. */
export interface AnsweredSeries {
  readonly labels: Labels;
  readonly times: Float64Array;
  readonly values: Float64Array;
}

export type Answered =
  | { readonly type: 'scalar'; readonly times: Float64Array; readonly values: Float64Array }
  | { readonly type: 'string'; readonly value: string }
  /** Of a vector the series at each step, in the order in which its parts made them; of a range (in an instant query only) its samples as they are. */
  | { readonly type: 'vector' | 'range'; readonly series: readonly AnsweredSeries[] };

/**
 * `data`: of each selection (`selectionsOf`) its series, sorted by labels. Throws VALIDATION_FAILED for what cannot be evaluated (series that match
 * several, equal labels) and, with code_detail `too_complex`, beyond the bounds.
 */
export function evaluate(
  query: Expression,
  range: QueryRange,
  data: readonly (readonly Series[])[],
  bounds: Bounds,
): Answered {
  const steps = stepsOf(range);
  const { expressions = new Expressions() } = bounds;
  const evaluation: Evaluation = { range, steps, data, budget: new Budget(bounds), expressions };
  const times = Float64Array.from({ length: steps }, (_, step) => range.startMs + step * range.stepMs);
  const { root, type } = query;
  if (root.kind === 'string') return { type: 'string', value: root.value };
  if (type === 'scalar') return { type: 'scalar', times, values: numbers(evaluation, root) };
  if (type === 'range') return { type, series: requireFew(rawSamples(evaluation, root as Selector), bounds) };
  const series = vector(evaluation, root).flatMap((each) => presentValues(each, times));
  return { type: 'vector', series: requireFew(series, bounds) };
}

function requireFew(series: readonly AnsweredSeries[], { seriesMax }: Bounds): readonly AnsweredSeries[] {
  if (series.length > seriesMax)
    throw tooComplex(`The answer has ${series.length} series; at most ${seriesMax} are answered.`);
  return series;
}

function presentValues({ labels, values, has }: Stepped, times: Float64Array): AnsweredSeries[] {
  const there = Array.from(has.keys()).filter((step) => has[step] === 1);
  if (there.length === 0) return [];
  const of = (from: Float64Array) => Float64Array.from(there, (step) => from[step] as number);
  return [{ labels, times: of(times), values: of(values) }];
}

/** A number at each step. */
function numbers(evaluation: Evaluation, node: Node): Float64Array {
  evaluation.budget.take(evaluation.steps);
  switch (node.kind) {
    case 'number':
      return new Float64Array(evaluation.steps).fill(node.value);
    case 'negated':
      return numbers(evaluation, node.of).map((value) => -value);
    case 'binary':
      return numbersOf(node.op, numbers(evaluation, node.left), numbers(evaluation, node.right));
    default:
      throw new Error(`${node.kind} is no number`);
  }
}

function vector(evaluation: Evaluation, node: Node): readonly Stepped[] {
  const series = vectorOf(evaluation, node);
  // Which groups there are, and their order, is decided by those that have a value.
  return evaluation.steps === 1 ? series.filter(({ has }) => has[0] === 1) : series;
}

function vectorOf(evaluation: Evaluation, node: Node): readonly Stepped[] {
  switch (node.kind) {
    case 'selector':
      return latest(evaluation, node);
    case 'negated':
      return negate(evaluation, vector(evaluation, node.of));
    case 'aggregation': {
      const param = node.param === null ? null : numbers(evaluation, node.param);
      return aggregate(evaluation, node.op, vector(evaluation, node.of), node, param);
    }
    case 'call':
      return callFunction(evaluation, node.name, node.args);
    case 'binary':
      return binary(evaluation, node);
    default:
      throw new Error(`${node.kind} is no vector`);
  }
}

function negate(evaluation: Evaluation, series: readonly Stepped[]): readonly Stepped[] {
  return requireDistinct(
    series.map(({ labels, values, has }) => {
      evaluation.budget.take(values.length);
      return { labels: withoutName(labels), values: values.map((value) => -value), has };
    }),
  );
}

function binary(evaluation: Evaluation, node: Extract<Node, { kind: 'binary' }>): readonly Stepped[] {
  const { op, left, right, isBool, matching } = node;
  if (typeOf(left) === 'scalar') {
    return vectorAndNumber(evaluation, op, vector(evaluation, right), numbers(evaluation, left), {
      isBool,
      isSwapped: true,
    });
  }
  if (typeOf(right) === 'scalar') {
    return vectorAndNumber(evaluation, op, vector(evaluation, left), numbers(evaluation, right), {
      isBool,
      isSwapped: false,
    });
  }
  const [one, two] = [vector(evaluation, left), vector(evaluation, right)];
  return setOps.has(op)
    ? setOperation(evaluation, op, one, two, matching)
    : vectorAndVector(evaluation, op, one, two, { isBool, matching });
}

function callFunction(evaluation: Evaluation, name: string, args: readonly Node[]): readonly Stepped[] {
  if (Object.hasOwn(windowFunctions, name)) {
    const param = args.length === 2 ? numbers(evaluation, args[0] as Node) : null;
    return overRange(evaluation, name, args.at(-1) as Selector, param);
  }
  const text = (i: number) => (args[i] as Extract<Node, { kind: 'string' }>).value;
  const number = (i: number) => numbers(evaluation, args[i] as Node);
  if (name === 'histogram_quantile')
    return histogramQuantile(evaluation, number(0), vector(evaluation, args[1] as Node));
  const of = vector(evaluation, args[0] as Node);
  if (name === 'label_replace') return labelReplaced(evaluation, of, [text(1), text(2), text(3), text(4)]);
  const params = args.slice(1).map((_, i) => number(i + 1));
  return mapValues(evaluation, of, valueFunctions[name]?.(params) as (value: number, step: number) => number | null);
}

type Params = readonly Float64Array[];
const at = (params: Params, i: number, step: number) => params[i]?.[step] as number;

/** Go's Max and Min: an infinity that decides comes before NaN. */
function larger(a: number, b: number): number {
  return a === Number.POSITIVE_INFINITY || b === Number.POSITIVE_INFINITY ? Number.POSITIVE_INFINITY : Math.max(a, b);
}

function smaller(a: number, b: number): number {
  return -larger(-a, -b);
}

const valueFunctions: Readonly<Record<string, (params: Params) => (value: number, step: number) => number | null>> = {
  ceil: () => Math.ceil,
  floor: () => Math.floor,
  // To multiples of the inverse's inverse, as Prometheus does: 0.1 has no exact one.
  round: (params) => (value, step) => {
    const inverse = 1 / (params.length === 0 ? 1 : at(params, 0, step));
    return Math.floor(value * inverse + 0.5) / inverse;
  },
  clamp: (params) => (value, step) => {
    const [least, most] = [at(params, 0, step), at(params, 1, step)];
    return most < least ? null : larger(least, smaller(most, value));
  },
  clamp_min: (params) => (value, step) => larger(at(params, 0, step), value),
  clamp_max: (params) => (value, step) => smaller(at(params, 0, step), value),
};
