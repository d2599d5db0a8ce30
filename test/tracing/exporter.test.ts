// What becomes of spans when the collector is down, slow, or refuses them: nobody waits, nothing grows, and what is lost is counted.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import type { Logger } from '../../src/core/process/logger.ts';
import { SpanExporter } from '../../src/core/tracing/exporter.ts';
import type { EndedSpan } from '../../src/core/tracing/otlp.ts';
import { createOutboundClient } from '../../src/vendors/http/client.ts';
import { eventually } from '../cron/harness.ts';
import { Collector } from '../support/collector.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(ends.splice(0).map((end) => end())));

const NEVER_MS = 2 ** 30;
const span: EndedSpan = {
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  parentSpanId: null,
  name: 'GET /v1/queue/list',
  kind: 'server',
  attributes: {},
  isError: false,
  startUnixMs: 1_000,
  endUnixMs: 1_001,
};

function exporterTo(url: string, everyMs: number) {
  const warnings: object[] = [];
  const log = { warn: (of: object) => void warnings.push(of) } as unknown as Logger;
  const outbound = createOutboundClient({ allowPrivateTargets: [] });
  const send = vi.spyOn(outbound, 'send');
  const exporter = new SpanExporter({ url: `${url}/v1/traces`, headers: {}, resource: {}, outbound, log, everyMs });
  const add = (count: number) => {
    for (let i = 0; i < count; i += 1) exporter.add(span);
  };
  const counts = () => exporter.metrics().map(({ value }) => value);
  return { exporter, warnings, add, counts, tries: () => send.mock.calls.length };
}

async function startCollector(): Promise<Collector> {
  const collector = await Collector.start();
  ends.push(() => collector.stop());
  return collector;
}

/** A server that takes requests and never answers. */
async function startSilent(): Promise<{ url: string; asked: () => number }> {
  let asked = 0;
  const server: Server = createServer(() => {
    asked += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked };
}

test('a full request is sent at once, the rest at the stop', async () => {
  const collector = await startCollector();
  const { exporter, add, counts } = exporterTo(collector.url, NEVER_MS);
  add(600);
  await eventually(() => collector.spans.length > 0);
  await exporter.stop();
  expect(collector.spans).toHaveLength(600);
  expect(collector.bodies.map((body) => JSON.parse(body).resourceSpans[0].scopeSpans[0].spans.length)).toEqual([
    512, 88,
  ]);
  expect(counts()).toEqual([600, 0]);
});

test('a collector that is down is told once a minute, and 2,048 spans wait for it: further ones are dropped and counted', async () => {
  const { exporter, warnings, add, counts, tries } = exporterTo('http://127.0.0.1:1', 20);
  add(2_500);
  await eventually(() => warnings.length > 0);
  const before = tries();
  await eventually(() => tries() > before + 3);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatchObject({ url: 'http://127.0.0.1:1/v1/traces', waiting: 2_048, dropped: 452 });
  expect(counts()).toEqual([0, 452]);
  await exporter.stop();
});

test('what waited is sent when the collector is there again', async () => {
  const collector = await startCollector();
  collector.status = 503;
  const { exporter, warnings, add, counts } = exporterTo(collector.url, 20);
  add(5);
  await eventually(() => warnings.length > 0);
  expect(counts()).toEqual([0, 0]);
  collector.status = 200;
  await eventually(() => collector.spans.length === 5);
  await exporter.stop();
  expect(counts()).toEqual([5, 0]);
});

test('what the collector refuses for good is not sent again', async () => {
  const collector = await startCollector();
  collector.status = 400;
  const { exporter, warnings, add, counts } = exporterTo(collector.url, 20);
  add(5);
  await eventually(() => counts()[1] === 5);
  expect(collector.bodies).toHaveLength(1);
  expect(warnings).toHaveLength(1);
  await exporter.stop();
});

test('spans that are refused of a request that is taken count as dropped', async () => {
  const collector = await startCollector();
  collector.answer = '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"no"}}';
  const { exporter, add, counts } = exporterTo(collector.url, NEVER_MS);
  add(5);
  await exporter.stop();
  expect(counts()).toEqual([3, 2]);
});

test('a collector that never answers does not hold up the stop', async () => {
  const { url, asked } = await startSilent();
  const { exporter, add } = exporterTo(url, NEVER_MS);
  add(600);
  await eventually(() => asked() === 1);
  await exporter.stop();
});
