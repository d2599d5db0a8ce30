// The metrics module: time series, ingested from Prometheus and OpenTelemetry, queried with PromQL.
import { noBlocksOf } from '../../blocks/any.ts';
import { finder } from '../../kit/finder.ts';
import { defineModule } from '../../kit/module.ts';
import { metricsSource } from './alert-source.ts';
import { dashboards } from './capabilities/dashboards.ts';
import { ingest } from './capabilities/ingest.ts';
import { list } from './capabilities/list.ts';
import { query } from './capabilities/query.ts';
import { queryRange } from './capabilities/query-range.ts';
import { labels, listSeries } from './capabilities/series.ts';
import { settings } from './capabilities/settings.ts';
import { INGEST } from './limits.ts';
import { otlpMetrics } from './otlp/route.ts';
import { metricsProblems } from './problems.ts';
import { apiRoutes } from './prometheus/api.ts';
import { writeRoute } from './prometheus/write.ts';
import { forgetSweep } from './series/forget.ts';
import { metricsLimits } from './series/live.ts';
import { createMetricsState, type MetricsState } from './state.ts';

const noBlocks = noBlocksOf('metrics');

export const metrics = defineModule<MetricsState>({
  name: 'metrics',
  summary:
    'Metrics of your programs: series of numbers, stored by Prometheus and OpenTelemetry, asked by PromQL and Grafana.',
  status: 'ga',
  shownBy: ['metrics.ingest', 'metrics.query_range'],
  clients: [
    {
      client: 'Prometheus, Grafana',
      address: '{base_url}/v1/metrics/prometheus',
      use: 'remote write, and a data source of PromQL',
      serves: [
        'metrics.ingest',
        'metrics.query',
        'metrics.query_range',
        'metrics.series.list',
        'metrics.labels',
        'metrics.list',
      ],
    },
    {
      client: 'OpenTelemetry',
      address: '{base_url}',
      use: 'metrics by OTLP/HTTP',
      serves: ['metrics.ingest'],
    },
  ],
  capabilities: [
    ingest,
    query,
    queryRange,
    list,
    listSeries,
    labels,
    ...dashboards.capabilities,
    settings.getSettings,
    settings.setSettings,
  ],
  alertSources: [metricsSource],
  console: async () => (await import('./console/index.ts')).metricsConsole,
  prices: { [INGEST]: { unit: 'sample', nanosPerUnit: 100n } },
  problems: metricsProblems,
  rawRoutes: [otlpMetrics, writeRoute, ...apiRoutes],
  start: createMetricsState,
  isEmpty: async (db, accountId) => (await noBlocks(db, accountId)) && (await dashboards.isEmpty(db, accountId)),
  finders: [
    finder('dashboard', dashboards.list, ({ dashboard_id: id, name }) => ({
      id,
      name,
      path: `/metrics/dashboards/${encodeURIComponent(id)}`,
    })),
  ],
  sweeps: (state) => [...state.store.sweeps(), forgetSweep(state)],
  limits: { ...metricsLimits, dashboards: dashboards.limit },
});
