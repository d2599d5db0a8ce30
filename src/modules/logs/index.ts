// The logs module: log records of programs, their search, and ingest by OpenTelemetry and Loki.
import { noBlocksOf } from '../../blocks/any.ts';
import { defineModule } from '../../kit/module.ts';
import { logsSource } from './alert-source.ts';
import { fields } from './capabilities/fields.ts';
import { histogram } from './capabilities/histogram.ts';
import { ingest } from './capabilities/ingest.ts';
import { search } from './capabilities/search.ts';
import { settings } from './capabilities/settings.ts';
import { ingestRoutes } from './ingest/routes.ts';
import { INGEST } from './limits.ts';
import { type LogsSettings, logsSettings } from './settings.ts';
import { createLogsState, type LogsState } from './state.ts';
import { tailRoute } from './tail.ts';

export const logs = defineModule<LogsState, LogsSettings>({
  name: 'logs',
  summary: 'Log records of your programs: ingest, search, counts over time, live tail.',
  status: 'ga',
  shownBy: ['logs.ingest', 'logs.search'],
  clients: [
    {
      client: 'OpenTelemetry',
      address: '{base_url}',
      use: 'logs by OTLP/HTTP',
      serves: ['logs.ingest'],
    },
    {
      client: 'pino-loki, winston-loki',
      address: '{base_url}/v1/logs/',
      use: "logs by Loki's push",
      serves: ['logs.ingest'],
    },
  ],
  capabilities: [ingest, search, histogram, fields, settings.getSettings, settings.setSettings],
  alertSources: [logsSource],
  console: async () => (await import('./console/index.ts')).logsConsole,
  prices: { [INGEST]: { unit: 'KiB', nanosPerUnit: 200n } },
  rawRoutes: [...ingestRoutes, tailRoute],
  settings: logsSettings,
  start: createLogsState,
  isEmpty: noBlocksOf('logs'),
  sweeps: ({ store }) => store.sweeps(),
});
