// What alerts watch of metrics: the answer of a PromQL expression, by the evaluation and within the bounds of metrics.query.
import Type from 'typebox';
import { type AlertSeries, type AlertStep, alertSource } from '../../kit/alert-source.ts';
import { QUERY_CHARACTERS_MAX } from './limits.ts';
import { ask, requireQuery } from './query/ask.ts';
import type { ResultText } from './query/result.ts';
import type { MetricsState } from './state.ts';

const NAME = '__name__';
/** Of a range that is asked at once: what 1,000 series answer is read in a few milliseconds. */
const STEPS_AT_ONCE = 24;
const PAST_MS = 10_000;

interface Point {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [seconds: number, text: string];
}

interface Line {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [seconds: number, text: string])[];
}

export const metricsSource = alertSource<MetricsState>()({
  name: 'metrics',
  capability: 'metrics.query',
  by: null,
  firesWhenThere: true,
  errors: ['UNSUPPORTED_QUERY'],
  schema: Type.Object(
    {
      query: Type.String({
        minLength: 1,
        maxLength: QUERY_CHARACTERS_MAX,
        description: 'PromQL, as metrics.query takes it: rate(errors_total[5m]) > 3.',
      }),
    },
    { description: 'The answer of an expression. Without above and below, every series that it answers fires.' },
  ),
  async check({ core }, { accountId, signal }, { when: { query } }) {
    await requireQuery({ core, accountId, signal }, query);
    return [];
  },
  async look(state, { accountId, when: { query }, atMs, signal }) {
    const { core } = state;
    const range = { startMs: atMs, endMs: atMs, stepMs: 1 };
    return instantSeries(await ask({ core, accountId, signal }, state, query, range, 'instant'));
  },
  async past(state, { accountId, when: { query }, signal, fromMs, toMs, stepMs }) {
    const { core } = state;
    const untilMs = performance.now() + PAST_MS;
    const steps: AlertStep[] = [];
    for (let startMs = fromMs; startMs <= toMs && performance.now() < untilMs; startMs += STEPS_AT_ONCE * stepMs) {
      const endMs = Math.min(startMs + (STEPS_AT_ONCE - 1) * stepMs, toMs);
      const answer = await ask({ core, accountId, signal }, state, query, { startMs, endMs, stepMs }, 'range');
      steps.push(...stepsOf(answer, { startMs, endMs, stepMs }));
    }
    return steps;
  },
});

function instantSeries({ type, result }: ResultText): AlertSeries[] {
  if (type === 'scalar') return [{ labels: {}, value: numberOf((JSON.parse(result) as Point['value'])[1]) }];
  return (JSON.parse(result) as Point[]).map(({ metric, value }) => ({
    labels: labelsOf(metric),
    value: numberOf(value[1]),
  }));
}

function stepsOf(
  { result }: ResultText,
  { startMs, endMs, stepMs }: { readonly startMs: number; readonly endMs: number; readonly stepMs: number },
): AlertStep[] {
  const found = new Map<number, AlertSeries[]>();
  for (let atMs = startMs; atMs <= endMs; atMs += stepMs) found.set(atMs, []);
  for (const { metric, values } of JSON.parse(result) as Line[]) {
    const labels = labelsOf(metric);
    for (const [seconds, text] of values)
      found.get(Math.round(seconds * 1_000))?.push({ labels, value: numberOf(text) });
  }
  return [...found].map(([atMs, series]) => ({ atMs, series }));
}

function labelsOf({ [NAME]: _name, ...labels }: Point['metric']): AlertSeries['labels'] {
  return labels;
}

function numberOf(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  return text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text);
}
