// Evaluator of a query over series already read for it. Pure: no database, and no clock but that of its deadline. It runs in threads.
import { aggregate, countValues } from './aggregating.ts';
import { numbersOf, setOperation, vectorAndNumber, vectorAndVector } from './binary.ts';
import { Expressions } from './expressions.ts';
import { type Labels, labelsOf, withoutName } from './labels.ts';
import { histogramQuantile, labelReplaced, labelsJoined, mapValues } from './mapping.ts';
import { type Expression, type Node, type Selector, type Subquery, setOps } from './query.ts';
import { innerRange, type QueryRange, stepsOf } from './select.ts';
import { absentOverRange, latest, overRange, type Ranged, rawSamples } from './selecting.ts';
import { tooComplex } from './too-complex.ts';
import { typeOf } from './types.ts';
import { calendarFunctions, valueFunctions } from './value-functions.ts';
import { type Bounds, Budget, type Evaluation, emptyOf, requireDistinct, type Series, type Stepped } from './values.ts';

/** Of one subquery: 30 days by the minute, and as much again. */
const SUBQUERY_STEPS_MAX = 100_000;

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
  const evaluation: Evaluation = { query: range, range, steps, data, budget: new Budget(bounds), expressions };
  const times = timesOf(range, steps);
  const { root, type } = query;
  if (root.kind === 'string') return { type: 'string', value: root.value };
  if (type === 'scalar') return { type: 'scalar', times, values: numbers(evaluation, root) };
  if (type === 'range') {
    const ranged = rangedOf(evaluation, root as Selector | Subquery);
    return { type, series: requireFew(rawSamples(evaluation, ranged), bounds) };
  }
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
    case 'call':
      return callNumber(evaluation, node.name, node.args);
    default:
      throw new Error(`${node.kind} is no number`);
  }
}

function callNumber(evaluation: Evaluation, name: string, args: readonly Node[]): Float64Array {
  if (name === 'time') return secondsOf(evaluation);
  if (name === 'pi') return new Float64Array(evaluation.steps).fill(Math.PI);
  return onlyValues(evaluation, vector(evaluation, args[0] as Node));
}

/** The value of the only series at each step; NaN where there are none, or several. */
function onlyValues({ steps, budget }: Evaluation, series: readonly Stepped[]): Float64Array {
  budget.work(steps * series.length);
  return Float64Array.from({ length: steps }, (_, step) => {
    const there = series.filter(({ has }) => has[step] === 1);
    return there.length === 1 ? (there[0]?.values[step] as number) : Number.NaN;
  });
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
      if (node.param?.kind === 'string')
        return countValues(evaluation, vector(evaluation, node.of), node, node.param.value);
      const param = node.param === null ? null : numbers(evaluation, node.param);
      return aggregate(evaluation, node.op, vector(evaluation, node.of), node, param);
    }
    case 'call':
      return callFunction(evaluation, node);
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

function callFunction(evaluation: Evaluation, call: Extract<Node, { kind: 'call' }>): readonly Stepped[] {
  const { name, args, absentLabels = [] } = call;
  const text = (i: number) => (args[i] as Extract<Node, { kind: 'string' }>).value;
  const number = (i: number) => numbers(evaluation, args[i] as Node);
  const of = (i = 0) => vector(evaluation, args[i] as Node);
  const ranged = args.find((arg) => typeOf(arg) === 'range');
  if (ranged !== undefined) {
    const windows = rangedOf(evaluation, ranged as Selector | Subquery);
    if (name === 'absent_over_time') return absentOverRange(evaluation, windows, labelsOf(absentLabels));
    const params = args.filter((arg) => arg !== ranged).map((arg) => numbers(evaluation, arg));
    return overRange(evaluation, name, windows, params);
  }
  switch (name) {
    case 'histogram_quantile':
      return histogramQuantile(evaluation, number(0), of(1));
    case 'label_replace':
      return labelReplaced(evaluation, of(), [text(1), text(2), text(3), text(4)]);
    case 'label_join':
      return labelsJoined(evaluation, of(), [text(1), text(2), ...args.slice(3).map((_, i) => text(i + 3))]);
    case 'vector':
      return [everyStep(evaluation, number(0))];
    case 'absent':
      return [absentAt(evaluation, of(), labelsOf(absentLabels))];
    case 'timestamp':
      return timestamps(evaluation, args[0] as Node);
    case 'sort':
    case 'sort_desc':
      return sortByValue(of(), name === 'sort');
  }
  const isOfNow = args.length === 0 && Object.hasOwn(calendarFunctions, name);
  const values = isOfNow ? [everyStep(evaluation, secondsOf(evaluation))] : of();
  const params = args.slice(1).map((_, i) => number(i + 1));
  return mapValues(
    evaluation,
    values,
    valueFunctions[name]?.(params) as (value: number, step: number) => number | null,
  );
}

/** The samples of a selector, or what a subquery answers at its steps. */
function rangedOf(evaluation: Evaluation, node: Selector | Subquery): Ranged {
  const { offsetMs, at, rangeMs } = node;
  const modified = { offsetMs, at, rangeMs: rangeMs as number };
  if (node.kind === 'selector') return { ...modified, series: evaluation.data[node.place] ?? [] };
  const range = innerRange(node, evaluation.range, evaluation.query);
  const steps = stepsOf(range);
  if (steps > SUBQUERY_STEPS_MAX)
    throw tooComplex(`A subquery has ${steps} steps; at most ${SUBQUERY_STEPS_MAX} are evaluated. Use a larger step.`);
  const times = timesOf(range, steps);
  const series = vector({ ...evaluation, range, steps }, node.of).flatMap((each) => presentValues(each, times));
  return { ...modified, series };
}

function timesOf({ startMs, stepMs }: QueryRange, steps: number): Float64Array {
  return Float64Array.from({ length: steps }, (_, step) => startMs + step * stepMs);
}

const secondsOf = ({ range, steps }: Evaluation) => timesOf(range, steps).map((ms) => ms / 1_000);

/** A series without labels that has a value at each step. */
function everyStep(evaluation: Evaluation, values: Float64Array): Stepped {
  const own = emptyOf(evaluation, noLabels);
  own.has.fill(1);
  own.values.set(values);
  return own;
}

const noLabels: Labels = new Map();

/** 1 at each step where there is no series. */
function absentAt(evaluation: Evaluation, series: readonly Stepped[], labels: Labels): Stepped {
  const own = emptyOf(evaluation, labels);
  for (let step = 0; step < evaluation.steps; step += 1) {
    if (series.some(({ has }) => has[step] === 1)) continue;
    own.values[step] = 1;
    own.has[step] = 1;
  }
  evaluation.budget.work(evaluation.steps * series.length);
  return own;
}

/** Of a selector when its samples were taken; of all else the time of the step. */
function timestamps(evaluation: Evaluation, node: Node): readonly Stepped[] {
  const seconds = secondsOf(evaluation);
  return node.kind === 'selector'
    ? mapValues(evaluation, latest(evaluation, node, 'time'), (value) => value)
    : mapValues(evaluation, vector(evaluation, node), (_, step) => seconds[step] as number);
}

/** Of an instant query; over a range series have no order. NaN comes last. */
function sortByValue(series: readonly Stepped[], isAscending: boolean): readonly Stepped[] {
  if (series.some(({ values }) => values.length !== 1)) return series;
  const only = ({ values }: Stepped) => values[0] as number;
  return series.toSorted((a, b) => {
    const [one, two] = [only(a), only(b)];
    if (Number.isNaN(one) || Number.isNaN(two)) return Number(Number.isNaN(one)) - Number(Number.isNaN(two));
    return isAscending ? one - two : two - one;
  });
}
