import Type from 'typebox';
import { textOrNull } from '../../../kit/fields.ts';
import { listOf } from '../../../kit/resource.ts';
import { types } from '../limits.ts';
import { type MetricRow, metricsOf } from '../query/metrics-list.ts';
import { hourOf } from '../series/store.ts';
import type { MetricsState } from '../state.ts';

const metricSchema = Type.Object({
  name: Type.String({ description: 'Name of the metric.' }),
  type: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    enum: [...types, null],
    description: 'As its program said; null: it did not say.',
  }),
  help: textOrNull('What it measures; null when its program did not say.'),
  unit: textOrNull('Its unit, such as seconds.'),
});

export const list = listOf<MetricRow, MetricsState, typeof metricSchema>(
  {
    noun: 'metric',
    output: metricSchema,
    show: (row) => row,
    async list(db, { accountId }, { after, limit }, { store }) {
      const sinceHour = hourOf(await store.firstKeptMs(accountId));
      return metricsOf(db, accountId, { after: after ?? '', sinceHour, limit });
    },
    positionOf: ({ name }) => name,
  },
  {
    path: '/v1/metrics/list',
    description:
      'Metrics by name with type, help text and unit, page by page. A histogram is one metric beside the names of its series.',
    keywords: ['metric names', 'metric metadata', 'list metrics', 'metric types'],
    examples: [
      {
        title: 'The first ones',
        before: [
          { capability: 'metrics.ingest', input: { items: [{ name: 'jobs_waiting', type: 'gauge', value: 3 }] } },
        ],
        input: { limit: 10 },
        expect: { items: [{ name: 'jobs_waiting', type: 'gauge', help: null, unit: null }] },
      },
    ],
  },
);
