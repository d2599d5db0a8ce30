// OpenTelemetry's own exporters, and the shapes of OTLP that they do not send.
import {
  AggregationTemporalityPreference,
  OTLPMetricExporter as HttpExporter,
} from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtoExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MetricsBench } from './harness.ts';

let bench: MetricsBench;
beforeAll(async () => {
  bench = await MetricsBench.start();
});
afterAll(() => bench.end());

/** The values of a query now, by the labels that are named. */
async function values(own: MetricsBench, query: string): Promise<[Record<string, string>, number][]> {
  const { result } = await own.prom('query', { query });
  return result.map(({ metric, value }: { metric: Record<string, string>; value: [number, string] }) => [
    metric,
    Number(value[1]),
  ]);
}

test.each([
  ['protobuf', ProtoExporter, AggregationTemporalityPreference.CUMULATIVE],
  ['protobuf, differences', ProtoExporter, AggregationTemporalityPreference.DELTA],
  ['JSON', HttpExporter, AggregationTemporalityPreference.CUMULATIVE],
  ['JSON, differences', HttpExporter, AggregationTemporalityPreference.DELTA],
] as const)(
  'OpenTelemetry stores counters, gauges and histograms by %s',
  async (_form, Exporter, temporalityPreference) => {
    const own = await bench.withAccount();
    const headers = { Authorization: `Bearer ${own.account.secret}` };
    const exporter = new Exporter({ url: `${bench.service.url}/v1/metrics`, headers, temporalityPreference });
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
    const resource = resourceFromAttributes({
      'service.name': 'shop',
      'service.namespace': 'eu',
      'service.instance.id': 'i1',
      region: 'x',
    });
    const provider = new MeterProvider({ resource, readers: [reader] });
    const meter = provider.getMeter('test');
    const orders = meter.createCounter('orders.placed', { description: 'Orders.' });
    const latency = meter.createHistogram('http.server.duration', {
      unit: 's',
      advice: { explicitBucketBoundaries: [0.1, 1] },
    });
    const used = meter.createGauge('memory.used', { unit: 'By' });
    for (let round = 1; round <= 3; round += 1) {
      orders.add(2, { 'pay.by': 'card' });
      latency.record(0.05 * round);
      used.record(100 * round);
      await provider.forceFlush();
    }
    await provider.shutdown();
    const target = { job: 'eu/shop', instance: 'i1' };
    const rest = async (query: string) =>
      (await values(own, query)).map(([labels, value]) => [
        Object.fromEntries(Object.entries(labels).filter(([name]) => name !== '__name__')),
        value,
      ]);
    expect(await rest('orders_placed_total')).toEqual([[{ ...target, pay_by: 'card' }, 6]]);
    expect(await rest('memory_used_bytes')).toEqual([[target, 300]]);
    expect(await rest('http_server_duration_seconds_count')).toEqual([[target, 3]]);
    expect(
      (await rest('http_server_duration_seconds_bucket')).map(([labels, value]) => [
        (labels as { le: string }).le,
        value,
      ]),
    ).toEqual([
      ['+Inf', 3],
      ['0.1', 2],
      ['1', 3],
    ]);
    expect(await rest('target_info')).toEqual([[{ ...target, region: 'x' }, 1]]);
    expect((await own.prom('metadata', { metric: 'orders_placed_total' })).orders_placed_total).toEqual([
      { type: 'counter', help: 'Orders.', unit: '' },
    ]);
  },
);

function send(own: MetricsBench, metrics: readonly object[]) {
  return own.call('POST', '/v1/metrics', {
    resourceMetrics: [{ resource: { attributes: [] }, scopeMetrics: [{ metrics }] }],
  });
}

const nanos = (ms: number) => `${ms}000000`;

test('differences add up exactly over calls at once and processes, and an equal request is one', async () => {
  const own = await bench.withAccount();
  const now = Date.now() - 60_000;
  const delta = (i: number) => ({
    name: 'jobs',
    sum: {
      aggregationTemporality: 1,
      isMonotonic: true,
      dataPoints: [{ asInt: '3', timeUnixNano: nanos(now + i), attributes: [] }],
    },
  });
  await Promise.all(Array.from({ length: 40 }, (_, i) => send(own, [delta(i)])));
  await send(own, [delta(0)]);
  expect(await values(own, 'max_over_time(jobs_total[5m])')).toEqual([[{}, 120]]);
});

test('what cannot be kept is told in partialSuccess, and the rest is stored', async () => {
  const own = await bench.withAccount();
  const at = nanos(Date.now());
  const reply = await send(own, [
    { name: 'kept', gauge: { dataPoints: [{ asDouble: 1.5, timeUnixNano: at, attributes: [] }] } },
    {
      name: 'exp',
      exponentialHistogram: { aggregationTemporality: 2, dataPoints: [{ timeUnixNano: at }, { timeUnixNano: at }] },
    },
    { name: 'old', gauge: { dataPoints: [{ asDouble: 1, timeUnixNano: '1000000000', attributes: [] }] } },
  ]);
  expect(reply.status).toBe(200);
  expect(JSON.parse(reply.text).partialSuccess).toMatchObject({ rejectedDataPoints: '3' });
  expect(JSON.parse(reply.text).partialSuccess.errorMessage).toMatch(/exponential histograms are not kept/);
  expect(await values(own, 'kept')).toEqual([[{ __name__: 'kept' }, 1.5]]);
});

test.each([
  ['no JSON', '{'],
  ['a list in place of an object', '[]'],
  ['metrics that are no list', '{"resourceMetrics":[{"scopeMetrics":[{"metrics":{}}]}]}'],
  [
    'a value that is no number',
    '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"a","gauge":{"dataPoints":[{"asDouble":"x"}]}}]}]}]}',
  ],
])('%s is refused with a status of gRPC', async (_what, body) => {
  const reply = await fetch(`${bench.service.url}/v1/metrics`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bench.account.secret}`, 'content-type': 'application/json' },
    body,
  });
  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({ code: 3, details: [{ reason: 'INVALID_REQUEST' }] });
});
