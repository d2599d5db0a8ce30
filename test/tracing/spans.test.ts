// Calls, commits and requests to vendors and webhooks as spans, at a collector that is a real HTTP server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AiVendors, PATIENT } from '../ai/vendors-bench.ts';
import { openaiWire } from '../support/ai/wires.ts';
import { Collector, KIND } from '../support/collector.ts';
import { client, type Reply } from '../support/service.ts';
import { LOCAL_TARGETS, type Received, Receiver, WebhookCaller } from '../webhooks/api-harness.ts';

const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const continued = (flags: string, traceId = CALLER.traceId) => ({
  traceparent: `00-${traceId}-${CALLER.spanId}-${flags}`,
});
const UNSAMPLED = '0af7651916cd43dd8448eb211c80319c';

let collector: Collector;
let receiver: Receiver;
let bench: AiVendors;
let published: Reply;
let chatted: Reply;
let delivered: Received;
let metrics: string;
let vendorPort: number;
let begunMs: number;

// Everything is played before the first test, and the stop sends what waits.
beforeAll(async () => {
  begunMs = Date.now();
  [collector, receiver] = await Promise.all([Collector.start(), Receiver.start()]);
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a%20b,authorization=Bearer collector-secret',
    OTEL_SERVICE_NAME: 'qm-of-test',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=unused',
    ...LOCAL_TARGETS,
  };
  bench = await AiVendors.start({}, openaiWire, settings, { timeouts: PATIENT });
  const { url } = bench.service;
  vendorPort = Number(new URL(bench.acme.url).port);
  const call = client(url, bench.account.secret);
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  published = await call(
    'POST',
    '/v1/queue/publish',
    { queue: 'jobs', payload: { is: 'payload-secret' } },
    continued('01'),
  );
  await call('POST', '/v1/queue/publish', { queue: 'nowhere', payload: {} });
  await call('GET', '/v1/queue/get/jobs?ignored=query-secret', undefined, {
    ...continued('00', UNSAMPLED),
    'x-qm-unknown-fields': 'warn',
  });
  await client(url, `${bench.account.secret}x`)('GET', '/v1/queue/list');
  await call('POST', '/v1/queue/batch/publish', { queue: 'jobs', items: [{ payload: 1 }, { payload: 2 }] });
  bench.acme.next({ status: 500, body: { error: { message: 'no' } } });
  const words = { model: 'm-1', messages: [{ role: 'user', content: 'prompt-secret' }] };
  chatted = await call('POST', '/v1/chat/completions', words);
  const webhooks = new WebhookCaller(url, bench.account);
  await webhooks.register(receiver.url('/hooks-secret'));
  await webhooks.deadLetter('spent');
  [delivered] = (await receiver.arrived('/hooks-secret')) as [Received];
  metrics = (await client(url)('GET', '/metrics')).text;
  await bench.stop();
});
afterAll(() => Promise.all([collector?.stop(), receiver?.stop()]));

describe('a call', () => {
  test('continues the trace of its caller, and its answer names its span', () => {
    const span = collector.spans.find(({ parentSpanId }) => parentSpanId === CALLER.spanId);
    expect(span).toMatchObject({
      name: 'POST /v1/queue/publish',
      kind: KIND.server,
      traceId: CALLER.traceId,
      status: {},
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/queue/publish',
        'http.response.status_code': 200,
        'qm.capability': 'queue.publish',
        'qm.request_id': published.headers.get('x-request-id'),
        'qm.account_id': bench.account.accountId,
        'qm.entry_form': 'rest',
      },
    });
    expect(published.headers.get('traceparent')).toBe(`00-${CALLER.traceId}-${span?.spanId}-01`);
    expect(published.body.metadata.trace_id).toBe(CALLER.traceId);
    const ms = (Number(span?.endTimeUnixNano) - Number(span?.startTimeUnixNano)) / 1e6;
    expect(ms).toBeGreaterThan(0);
    expect(Number(span?.startTimeUnixNano) / 1e6).toBeGreaterThan(begunMs - 1_000);
    expect(Number(span?.endTimeUnixNano) / 1e6).toBeLessThan(Date.now() + 1_000);
  });

  test('that is refused says by which code, and is no error of the service', () => {
    const refused = collector.spans.filter(({ attributes }) => attributes['qm.code'] !== undefined);
    const told = refused.map(({ attributes, status }) => [
      attributes['http.response.status_code'],
      attributes['qm.code'],
      status,
    ]);
    expect(told).toContainEqual([404, 'QUEUE_NOT_FOUND', {}]);
    expect(told).toContainEqual([401, 'INVALID_API_KEY', {}]);
    const unknown = collector.one('GET /v1/queue/list');
    expect(unknown.attributes).not.toHaveProperty('qm.account_id');
  });

  test('whose caller does not record its trace is not recorded', () => {
    expect(collector.spans.filter(({ traceId }) => traceId === UNSAMPLED)).toEqual([]);
  });
});

describe('a commit', () => {
  test('is a child of each call that it serves', () => {
    const span = collector.spans.find(({ parentSpanId }) => parentSpanId === CALLER.spanId);
    const children = collector.childrenOf(span as NonNullable<typeof span>);
    expect(children).toMatchObject([
      { name: 'commit', kind: KIND.internal, traceId: CALLER.traceId, attributes: { 'qm.commit.calls': 1 } },
    ]);
    const [commit] = children;
    expect(BigInt(commit?.startTimeUnixNano as string)).toBeGreaterThanOrEqual(
      BigInt(span?.startTimeUnixNano as string),
    );
    expect(BigInt(commit?.endTimeUnixNano as string)).toBeLessThanOrEqual(BigInt(span?.endTimeUnixNano as string));
  });

  test('of a free write is one too', () => {
    const [create] = collector.spans.filter(({ name }) => name === 'POST /v1/queue/create');
    expect(collector.childrenOf(create as NonNullable<typeof create>).map(({ name }) => name)).toEqual(['commit']);
  });
});

describe('a request to the outside', () => {
  test('to a vendor is a child of the call, which is not told to the vendor', () => {
    const chat = collector.spans.find(
      ({ attributes }) => attributes['qm.request_id'] === chatted.headers.get('x-request-id'),
    );
    const trace = collector.spans.filter(({ traceId }) => traceId === chat?.traceId);
    const requests = trace.filter(({ kind }) => kind === KIND.client);
    expect(requests).toHaveLength(2);
    expect(requests[0]).toMatchObject({
      name: 'POST',
      status: { code: 2 },
      attributes: {
        'http.request.method': 'POST',
        'url.scheme': 'http',
        'server.address': '127.0.0.1',
        'server.port': vendorPort,
        'http.response.status_code': 500,
        'error.type': '500',
      },
    });
    expect(requests[1]).toMatchObject({ status: {}, attributes: { 'http.response.status_code': 200 } });
    const ids = new Set(trace.map(({ spanId }) => spanId));
    expect(requests.every(({ parentSpanId }) => ids.has(parentSpanId as string))).toBe(true);
    const heads = [...bench.acme.seen, ...bench.corp.seen].map(({ headers }) => headers);
    expect(heads.length).toBeGreaterThanOrEqual(2);
    expect(heads.filter((head) => 'traceparent' in head)).toEqual([]);
  });

  test('to a webhook hands its trace on', () => {
    const { port } = new URL(receiver.url());
    const delivery = collector.spans.find(({ attributes }) => attributes['server.port'] === Number(port));
    expect(delivery).toMatchObject({ name: 'POST', kind: KIND.client, status: {} });
    expect(delivered.headers.traceparent).toBe(`00-${delivery?.traceId}-${delivery?.spanId}-01`);
  });
});

test('every parent of this service is a span of the same trace, and every id is one span', () => {
  const byId = new Map(collector.spans.map((span) => [span.spanId, span]));
  expect(byId.size).toBe(collector.spans.length);
  for (const { parentSpanId, traceId } of collector.spans) {
    if (parentSpanId === undefined || parentSpanId === CALLER.spanId) continue;
    expect(byId.get(parentSpanId)?.traceId).toBe(traceId);
  }
});

test('spans hold no key, path, query or body', () => {
  const sent = collector.bodies.join('\n');
  const secrets = ['payload-secret', 'query-secret', 'prompt-secret', 'hooks-secret', 'vendor-key', 'collector-secret'];
  expect([...secrets, bench.account.secret].filter((secret) => sent.includes(secret))).toEqual([]);
});

test('the collector gets the headers and the resource that the settings name', () => {
  expect(collector.headers[0]).toMatchObject({ 'x-tenant': 'a b', authorization: 'Bearer collector-secret' });
  expect(collector.resource).toMatchObject({
    'service.name': 'qm-of-test',
    'deployment.environment.name': 'test',
    'service.instance.id': expect.any(String),
    'service.version': expect.stringMatching(/^\d+\.\d+\.\d+/),
  });
});

test('what was sent and dropped is counted', () => {
  expect(metrics).toMatch(/^qm_trace_spans_sent_total \d+$/m);
  expect(metrics).toMatch(/^qm_trace_spans_dropped_total 0$/m);
});
