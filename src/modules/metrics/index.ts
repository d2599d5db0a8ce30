// The metrics module: series of numbers over time, by Prometheus' and OpenTelemetry's wires, and PromQL over them.
import { noBlocksOf } from '../../core/blocks/any.ts';
import { defineModule } from '../../kit/module.ts';
import { ingest } from './capabilities/ingest.ts';
import { getSettings, setSettings } from './capabilities/settings.ts';
import { INGEST } from './limits.ts';
import { writeRoute } from './prometheus/write.ts';
import { createMetricsState, type MetricsState } from './state.ts';

export const metrics = defineModule<MetricsState>({
  name: 'metrics',
  summary: 'Metrics of your programs: series of numbers, stored by Prometheus and OpenTelemetry, asked by PromQL and Grafana.',
  status: 'ga',
  capabilities: [ingest, getSettings, setSettings],
  prices: { [INGEST]: { unit: 'sample', nanosPerUnit: 100n } },
  rawRoutes: [writeRoute],
  start: createMetricsState,
  isEmpty: noBlocksOf('metrics'),
  sweeps: ({ store }) => store.sweeps(),
});
