import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { ask } from '../query/ask.ts';
import { rangeOf } from '../query/times.ts';
import { msOf, queryField, resultSchema } from '../schemas.ts';
import type { MetricsState } from '../state.ts';
import { resultJson } from './query.ts';

const STEPS_USUAL = 250;
const HOUR_MS = 3_600_000;

export const queryRange = defineCapability<MetricsState>()({
  method: 'POST',
  path: '/v1/metrics/query_range',
  summary: 'Answers a query of PromQL over a time.',
  description: 'The same as metrics.query at each step from start to end, as graphs need it.',
  keywords: ['promql range', 'graph of a metric', 'metric over time', 'plot time series'],
  input: Type.Object({
    query: queryField,
    start: Type.Optional(
      Type.String({ format: 'date-time', description: 'The first step; an hour before end when not sent.' }),
    ),
    end: Type.Optional(Type.String({ format: 'date-time', description: 'Until then, included; now when not sent.' })),
    step_seconds: Type.Optional(
      Type.Number({
        minimum: 0.001,
        maximum: 31_536_000,
        description: 'Between two steps; what makes 250 of them when not sent.',
      }),
    ),
  }),
  output: resultSchema,
  isLongRead: true,
  errors: ['UNSUPPORTED_QUERY', 'OVERLOADED', 'CONCURRENCY_LIMITED'],
  limits: { steps: '11,000.', answer: '1,000 series, 500,000 points.' },
  examples: [
    {
      title: 'The last hour of a metric',
      before: [{ capability: 'metrics.ingest', input: { points: [{ name: 'jobs_waiting', value: 3 }] } }],
      input: { query: 'max_over_time(jobs_waiting[5m])' },
      expect: { result_type: 'matrix' },
    },
  ],
  async run({ ctx, input, state }) {
    const end = input.end === undefined ? Date.now() : msOf(input.end);
    const start = input.start === undefined ? end - HOUR_MS : msOf(input.start);
    const usual = Math.max(1_000, Math.ceil((end - start) / STEPS_USUAL / 1_000) * 1_000);
    const step = input.step_seconds === undefined ? usual : Math.max(1, Math.round(input.step_seconds * 1_000));
    return { data: resultJson(await ask(ctx, state, input.query, rangeOf(start, end, step), 'range')) };
  },
});
