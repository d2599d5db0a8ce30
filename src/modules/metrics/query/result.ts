// Query results as JSON in the form of Prometheus' API: times in seconds, values as strings.
import { ANSWER_POINTS_MAX } from '../limits.ts';
import type { Answered, AnsweredSeries } from '../promql/evaluate.ts';
import { type Labels, sortedByLabels } from '../promql/labels.ts';
import type { QueryRange } from '../promql/select.ts';
import { tooComplex } from '../promql/too-complex.ts';

export interface ResultText {
  readonly type: 'scalar' | 'string' | 'vector' | 'matrix';
  /** JSON. */
  readonly result: string;
}

interface Form {
  readonly as: string;
  readonly range: QueryRange;
}

export function resultText(answered: Answered, { as, range }: Form): ResultText {
  switch (answered.type) {
    case 'string':
      return { type: 'string', result: `[${range.startMs / 1_000},${JSON.stringify(answered.value)}]` };
    case 'scalar':
      if (as === 'instant') return { type: 'scalar', result: point(answered, 0) };
      return matrix([{ labels: new Map(), times: answered.times, values: answered.values }]);
    case 'vector':
      if (as !== 'instant') return matrix(answered.series);
      return { type: 'vector', result: `[${answered.series.map(instant).join(',')}]` };
    case 'range':
      return matrix(answered.series);
  }
}

function instant(series: AnsweredSeries): string {
  return `{"metric":${labelsText(series.labels)},"value":${point(series, 0)}}`;
}

function matrix(series: readonly AnsweredSeries[]): ResultText {
  const points = series.reduce((sum, { times }) => sum + times.length, 0);
  if (points > ANSWER_POINTS_MAX) {
    throw tooComplex(
      `The answer has ${points} points; at most ${ANSWER_POINTS_MAX} are answered. Ask for larger steps or fewer series.`,
    );
  }
  const texts = sortedByLabels(series).map((each) => {
    const values = Array.from(each.times.keys(), (i) => point(each, i));
    return `{"metric":${labelsText(each.labels)},"values":[${values.join(',')}]}`;
  });
  return { type: 'matrix', result: `[${texts.join(',')}]` };
}

export function labelsText(labels: Labels): string {
  return JSON.stringify(Object.fromEntries(labels));
}

function point({ times, values }: Pick<AnsweredSeries, 'times' | 'values'>, i: number): string {
  return `[${(times[i] as number) / 1_000},"${valueText(values[i] as number)}"]`;
}

export function valueText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return Object.is(value, -0) ? '-0' : String(value);
}
