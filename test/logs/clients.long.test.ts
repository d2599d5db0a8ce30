// Exporters of OpenTelemetry, pino-loki and winston-loki, unchanged: what a program logs is found as it was logged.
import { context, TraceFlags, trace } from '@opentelemetry/api';
import { OTLPLogExporter as HttpExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtoExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import pino from 'pino';
import pinoLoki from 'pino-loki';
import { afterAll, beforeAll, expect, test } from 'vitest';
import winston from 'winston';
import LokiTransport from 'winston-loki';
import { LogsBench } from './harness.ts';

let shared: LogsBench;
beforeAll(async () => {
  shared = await LogsBench.start();
});
afterAll(() => shared.service.stop());

const traceId = '5b8efff798038103d269b633813fc60c';
const spanId = '00f067aa0ba902b7';

test.each([
  ['http', HttpExporter],
  ['proto', ProtoExporter],
])("OpenTelemetry's exporter %s", async (_name, Exporter) => {
  const logs = await shared.withAccount();
  const headers = { Authorization: `Bearer ${logs.account.secret}` };
  const exporter = new Exporter({ url: `${logs.service.url}/v1/logs`, headers, compression: 'gzip' as never });
  const provider = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter })] });
  const logger = provider.getLogger('orders', '2.0.0');
  const active = trace.setSpanContext(context.active(), { traceId, spanId, traceFlags: TraceFlags.SAMPLED });
  const attributes = {
    article: 'teapot',
    left: 2,
    price: 4.5,
    tags: ['a', 'b'],
    nested: { a: { b: null } },
    big: 2 ** 40,
  };
  logger.emit({ severityNumber: 13, body: 'stock is low', attributes, context: active });
  logger.emit({ severityText: 'ERROR', body: { event: 'map' } });
  await provider.shutdown();
  const { items } = await logs.search({ order: 'oldest' });
  expect(items).toMatchObject([
    {
      level: 'warn',
      message: 'stock is low',
      attributes,
      trace_id: traceId,
      span_id: spanId,
      resource: { 'otel.scope.name': 'orders', 'otel.scope.version': '2.0.0', 'telemetry.sdk.language': 'nodejs' },
    },
    { level: 'error', message: '{"event":"map"}', attributes: {}, trace_id: null },
  ]);
});

test('pino-loki', async () => {
  const logs = await shared.withAccount();
  const transport = pinoLoki({
    host: `${logs.service.url}/v1/logs/`,
    basicAuth: { username: 'logs', password: logs.account.secret },
    labels: { service: 'shop', zone: 'eu' },
    batching: { interval: 1 },
  });
  const logger = pino({ level: 'trace' }, transport);
  logger.trace({ order: { id: 17 } }, 'order read');
  logger.error(new TypeError('card declined'));
  const messages = async () => (await logs.search({ service: 'shop', order: 'oldest' })).items;
  await expect.poll(messages).toMatchObject([
    { level: 'trace', message: 'order read', attributes: { order: { id: 17 } }, resource: { zone: 'eu' } },
    { level: 'error', message: 'card declined', attributes: { err: { type: 'TypeError' } } },
  ]);
  transport.end();
});

test.each([true, false])('winston-loki (JSON: %s)', async (json) => {
  const logs = await shared.withAccount();
  const loki = new LokiTransport({
    host: `${logs.service.url}/v1/logs`,
    basicAuth: `logs:${logs.account.secret}`,
    labels: { app: 'shop' },
    json,
    batching: true,
    interval: 1,
    gracefulShutdown: false,
  });
  winston.createLogger({ transports: [loki] }).warn('stock is low', { article: 'teapot', left: 2 });
  await loki.flush();
  expect((await logs.search({ service: 'shop' })).items).toMatchObject([
    { level: 'warn', message: 'stock is low', attributes: { article: 'teapot', left: 2 } },
  ]);
  await loki.close?.();
});
