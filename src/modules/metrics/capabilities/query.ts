import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { alsoNamed } from '../../../kit/second-names.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { ask } from '../query/ask.ts';
import type { ResultText } from '../query/result.ts';
import { msOf, queryField, resultSchema } from '../schemas.ts';
import type { MetricsState } from '../state.ts';

export const query = defineCapability<MetricsState>()({
  method: 'POST',
  path: '/v1/metrics/query',
  summary: 'Answers a query of PromQL at one time.',
  description:
    'PromQL as Prometheus 2.42 reads it: selectors, offset, rate, irate, increase, delta, *_over_time, aggregations by and without, topk, quantile, ' +
    'histogram_quantile, arithmetic, comparison and set operators with on, ignoring, group_left and group_right, ceil, floor, round, clamp, label_replace. Anything else ' +
    'is UNSUPPORTED_QUERY and named: no answer is a guess. Grafana asks by its Prometheus source at {base_url}/v1/metrics/prometheus, with the key as password.',
  keywords: ['promql', 'instant query', 'current value of a metric', 'grafana prometheus data source', 'query metrics'],
  input: Type.Object({
    query: queryField,
    at: alsoNamed(
      Type.Optional(Type.String({ format: 'date-time', description: 'At which time; now when not sent.' })),
      'time',
    ),
  }),
  output: resultSchema,
  isLongRead: true,
  errors: ['UNSUPPORTED_QUERY', 'OVERLOADED', 'CONCURRENCY_LIMITED'],
  limits: {
    query: '8,192 characters, 1,000 parts; 10 s, 3 million samples, 1,000 series an answer.',
    lookback: 'A sample counts for 5 minutes.',
  },
  examples: [
    {
      title: 'The sum of two series',
      before: [
        {
          capability: 'metrics.ingest',
          input: {
            items: [
              { name: 'jobs_waiting', value: 3, labels: { queue: 'mail' } },
              { name: 'jobs_waiting', value: 4, labels: { queue: 'video' } },
            ],
          },
        },
      ],
      input: { query: 'sum(jobs_waiting)' },
      expect: { result_type: 'vector' },
    },
  ],
  async run({ ctx, input, state }) {
    const at = input.at === undefined ? Date.now() : msOf(input.at);
    return { data: resultJson(await ask(ctx, state, input.query, { startMs: at, endMs: at, stepMs: 1 }, 'instant')) };
  },
});

export function resultJson({ type, result }: ResultText): JsonText {
  return new JsonText(`{"result_type":"${type}","result":${result}}`);
}
