import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { alsoNamed } from '../../../kit/second-names.ts';
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
  description: 'The same as metrics.query at each step between from and to, both included, as graphs need it.',
  keywords: ['promql range', 'graph of a metric', 'metric over time', 'plot time series'],
  input: Type.Object({
    query: queryField,
    from: alsoNamed(
      Type.Optional(
        Type.String({ format: 'date-time', description: 'The first step; an hour before to when not sent.' }),
      ),
      'start',
    ),
    to: alsoNamed(
      Type.Optional(Type.String({ format: 'date-time', description: 'Until then, included; now when not sent.' })),
      'end',
    ),
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
      before: [{ capability: 'metrics.ingest', input: { items: [{ name: 'jobs_waiting', value: 3 }] } }],
      input: { query: 'max_over_time(jobs_waiting[5m])' },
      expect: { result_type: 'matrix' },
    },
  ],
  async run({ ctx, input, state }) {
    const end = input.to === undefined ? Date.now() : msOf(input.to);
    const start = input.from === undefined ? end - HOUR_MS : msOf(input.from);
    const usual = Math.max(1_000, Math.ceil((end - start) / STEPS_USUAL / 1_000) * 1_000);
    const step = input.step_seconds === undefined ? usual : Math.max(1, Math.round(input.step_seconds * 1_000));
    return { data: resultJson(await ask(ctx, state, input.query, rangeOf(start, end, step), 'range')) };
  },
});
