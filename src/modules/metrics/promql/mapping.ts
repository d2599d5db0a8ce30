// Functions of an instant vector that change its values or labels.
import { Problem } from '../../../problems/problem.ts';
import { executionError } from './execution-error.ts';
import { type Expression, type Expressions, type Groups, NeedsThread } from './expressions.ts';
import { type Labels, signature, withLabel, without, withoutName } from './labels.ts';
import type { Node } from './query.ts';
import { type Budget, type Evaluation, emptyOf, joinEqual, type Stepped } from './values.ts';

/** Values by a function of the value and the parameters of the step; null drops one. */
export function mapValues(
  evaluation: Evaluation,
  series: readonly Stepped[],
  of: (value: number, step: number) => number | null,
): readonly Stepped[] {
  const made = series.map(({ labels, values, has }) => {
    const own = emptyOf(evaluation, withoutName(labels));
    for (let step = 0; step < own.values.length; step += 1) {
      const value = has[step] === 1 ? of(values[step] as number, step) : null;
      if (value === null) continue;
      own.values[step] = value;
      own.has[step] = 1;
    }
    return own;
  });
  return joinEqual(made);
}

const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Throws VALIDATION_FAILED for one that is none. */
export function requireLabelName(name: string): void {
  if (!LABEL_NAME.test(name)) throw executionError(`${JSON.stringify(name.slice(0, 100))} is no name of a label.`);
}

/** Of arguments that name labels. */
export function requireLabelNames(args: readonly (Node | undefined)[]): void {
  for (const arg of args) if (arg?.kind === 'string') requireLabelName(arg.value);
}

/** `target` is what the labels of `sources` hold, with `separator` between them. */
export function labelsJoined(
  { budget }: Evaluation,
  series: readonly Stepped[],
  [target, separator, ...sources]: readonly [string, string, ...string[]],
): readonly Stepped[] {
  const made = series.map(({ labels, values, has }) => {
    budget.take(values.length);
    const text = sources.map((name) => labels.get(name) ?? '').join(separator);
    budget.write(text.length);
    return { labels: withLabel(labels, target, text), values: values.slice(), has: has.slice() };
  });
  return joinEqual(made);
}

export function labelReplaced(
  { budget, expressions }: Evaluation,
  series: readonly Stepped[],
  [target, replacement, source, expression]: readonly [string, string, string, string],
): readonly Stepped[] {
  const compiled = replacingExpression(expressions, target, expression);
  const textOf = ({ labels }: Stepped) => labels.get(source) ?? '';
  compiled.reckon(series.map(textOf), true);
  // Labels have few values: what becomes of each is made once.
  const replaced = new Map<string, string | null>();
  const made = series.map((each) => {
    const { labels, values, has } = each;
    budget.take(values.length);
    const text = textOf(each);
    let label = replaced.get(text);
    if (label === undefined) {
      const groups = compiled.groupsOf(text);
      label = groups === null ? null : expandTemplate(replacement, groups, budget);
      replaced.set(text, label);
    }
    if (label !== null) budget.write(label.length);
    const own = { values: values.slice(), has: has.slice() };
    return { labels: label === null ? labels : withLabel(labels, target, label), ...own };
  });
  return joinEqual(made);
}

/** The expression of label_replace. Throws VALIDATION_FAILED for one that cannot be used, or a target that is no label. */
export function replacingExpression(expressions: Expressions, target: string, expression: string): Expression {
  requireLabelName(target);
  try {
    return expressions.compile(expression);
  } catch (error) {
    if (!(error instanceof Error) || error instanceof NeedsThread || error instanceof Problem) throw error;
    throw executionError(`label_replace has an expression that cannot be used (${error.message}).`);
  }
}

const REFERENCE = /\$(?:\$|\{(\w+)\}|(\w+))/g;

/** As Go's Regexp.Expand: `$1`, `${1}x`, `$name`, and `$$` for a dollar; a group that is not there is empty. */
function expandTemplate(template: string, { count, names, group }: Groups, budget: Budget): string {
  return template.replaceAll(REFERENCE, (found, braced, bare) => {
    if (found === '$$') return '$';
    const name = (braced ?? bare) as string;
    const index = /^\d+$/.test(name) ? Number(name) : Object.hasOwn(names, name) ? (names[name] as number) : -1;
    const text = index < 0 || index > count ? '' : group(index);
    budget.write(text.length);
    return text;
  });
}

interface Bucket {
  readonly upper: number;
  count: number;
}

/** Buckets by their label `le`, to the value below which the share `q` of observations lies. */
export function histogramQuantile(
  evaluation: Evaluation,
  q: Float64Array,
  series: readonly Stepped[],
): readonly Stepped[] {
  const bounded = series.flatMap((each) => {
    const upper = boundOf(each.labels.get('le') ?? '');
    return upper === null ? [] : [{ each, upper }];
  });
  const groups = Map.groupBy(bounded, ({ each }) => signature(without(each.labels, ['le'])));
  const made = [...groups.values()].map((group) => {
    const labels: Labels = without(withoutName(group[0]?.each.labels as Labels), ['le']);
    const own = emptyOf(evaluation, labels);
    evaluation.budget.work(evaluation.steps * group.length);
    for (let step = 0; step < evaluation.steps; step += 1) {
      const there = group.filter(({ each }) => each.has[step] === 1);
      if (there.length === 0) continue;
      const buckets = there.map(({ each, upper }) => ({ upper, count: each.values[step] as number }));
      own.values[step] = bucketQuantile(q[step] as number, buckets);
      own.has[step] = 1;
    }
    return own;
  });
  return joinEqual(made);
}

/** As Go's ParseFloat; null for what is no number. */
function boundOf(text: string): number | null {
  if (/^[+-]?inf(?:inity)?$/i.test(text))
    return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/^nan$/i.test(text)) return Number.NaN;
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : null;
}

/** Prometheus 2.42, promql/quantile.go. */
function bucketQuantile(q: number, sent: readonly Bucket[]): number {
  if (Number.isNaN(q)) return Number.NaN;
  if (q < 0) return Number.NEGATIVE_INFINITY;
  if (q > 1) return Number.POSITIVE_INFINITY;
  const buckets = cumulative(sent);
  const last = buckets.at(-1) as Bucket;
  if (last.upper !== Number.POSITIVE_INFINITY || buckets.length < 2 || last.count === 0) return Number.NaN;
  const rank = q * last.count;
  const found = buckets.slice(0, -1).findIndex(({ count }) => count >= rank);
  if (found === -1) return (buckets.at(-2) as Bucket).upper;
  const { upper, count } = buckets[found] as Bucket;
  if (found === 0) return upper <= 0 ? upper : upper * (rank / count);
  const below = buckets[found - 1] as Bucket;
  return below.upper + (upper - below.upper) * ((rank - below.count) / (count - below.count));
}

/** By their bounds, equal ones together, and none with fewer observations than the one below. */
function cumulative(sent: readonly Bucket[]): Bucket[] {
  const buckets: Bucket[] = [];
  for (const { upper, count } of sent.toSorted((a, b) => (a.upper < b.upper ? -1 : Number(a.upper > b.upper)))) {
    const last = buckets.at(-1);
    if (last?.upper === upper) last.count += count;
    else buckets.push({ upper, count });
  }
  let most = buckets[0]?.count as number;
  for (const bucket of buckets) {
    if (bucket.count > most) most = bucket.count;
    else if (bucket.count < most) bucket.count = most;
  }
  return buckets;
}
