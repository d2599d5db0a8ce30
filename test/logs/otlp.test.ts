// OTLP/HTTP: what is stored, what is rejected, what a repeat costs, and how failures are told.
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAccount } from '../support/service.ts';
import { LogsBench } from './harness.ts';
import { type OtlpRecord, otlpJson, otlpProtobuf, partialOf, statusOf } from './otlp.ts';

const PROTOBUF = { 'content-type': 'application/x-protobuf' };
const JSON_TYPE = { 'content-type': 'application/json' };
const DAY_MS = 86_400_000;

let shared: LogsBench;
beforeAll(async () => {
  shared = await LogsBench.start();
});
afterAll(() => shared.service.stop());

const nowMs = Date.now();
const trace = '5b8efff798038103d269b633813fc60c';
const records: readonly OtlpRecord[] = [
  {
    timeMs: nowMs - 2,
    severity: 17,
    body: 'card declined',
    attributes: { provider: 'acme', attempt: 3, rate: 0.5, isLast: true },
    traceId: trace,
    spanId: '00f067aa0ba902b7',
  },
  { timeMs: nowMs - 1, severity: 9, body: 'order shipped', attributes: { order: 17 } },
  { timeMs: nowMs, body: 4.5 },
];
const resource = { 'service.name': 'checkout', 'host.name': 'web-1' };

const stored = [
  { level: 'info', message: '4.5', attributes: {}, trace_id: null, span_id: null },
  { level: 'info', message: 'order shipped', attributes: { order: 17 }, trace_id: null, span_id: null },
  {
    level: 'error',
    message: 'card declined',
    attributes: { provider: 'acme', attempt: 3, rate: 0.5, isLast: true },
    trace_id: trace,
    span_id: '00f067aa0ba902b7',
  },
].map((each, i) => ({
  timestamp: new Date(nowMs - i).toISOString(),
  service: 'checkout',
  resource: { 'host.name': 'web-1', 'otel.scope.name': 'scope' },
  ...each,
}));

test.each([
  ['protobuf', otlpProtobuf(records, resource), PROTOBUF],
  ['JSON', otlpJson(records, resource), JSON_TYPE],
  ['protobuf under gzip', gzipSync(otlpProtobuf(records, resource)), { ...PROTOBUF, 'content-encoding': 'gzip' }],
  ['JSON under zstd', zstdCompressSync(otlpJson(records, resource)), { ...JSON_TYPE, 'content-encoding': 'zstd' }],
])('%s is stored as it was meant', async (_name, body, headers) => {
  const logs = await shared.withAccount();
  const reply = await logs.post('/v1/logs', body, headers);
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toContain(headers['content-type']);
  expect(reply.body.toString()).toBe(headers['content-type'] === 'application/json' ? '{}' : '');
  expect((await logs.search({})).items).toEqual(stored);
  expect((await logs.search({ 'filter.host.name': 'web-1', 'filter.attempt': '3' })).items).toEqual([stored[2]]);
});

test('a long request is stored as a short one is', async () => {
  const logs = await shared.withAccount();
  const many = Array.from({ length: 3_000 }, (_, i) => ({ ...records[i % 2], timeMs: nowMs - i, body: `record ${i}` }));
  expect((await logs.post('/v1/logs', otlpProtobuf(many, resource), PROTOBUF)).status).toBe(200);
  const from = new Date(nowMs - 10_000).toISOString();
  expect((await logs.histogram({ from, to: new Date(nowMs + 1_000).toISOString() })).total).toBe(3_000);
  expect((await logs.search({ q: 'record 2999' })).items).toMatchObject([{ message: 'record 2999' }]);
});

test('records out of their time are rejected, and the others stored', async () => {
  const logs = await shared.withAccount();
  const mixed = [
    records[0],
    { timeMs: nowMs - 31 * DAY_MS, body: 'old' },
    { timeMs: nowMs + 11 * 60_000, body: 'ahead' },
  ] as OtlpRecord[];
  const reply = await logs.post('/v1/logs', otlpProtobuf(mixed), PROTOBUF);
  expect(partialOf(reply.body)).toEqual({ rejected: 2, message: 'timestamp is more than 30 days old.' });
  const inJson = await logs.post('/v1/logs', otlpJson(mixed.slice(1)), JSON_TYPE);
  expect(JSON.parse(inJson.body.toString())).toEqual({
    partialSuccess: { rejectedLogRecords: '2', errorMessage: 'timestamp is more than 30 days old.' },
  });
  expect((await logs.search({})).items).toHaveLength(1);
});

test('an equal request within ten minutes is the same one, and then another', async () => {
  const logs = await LogsBench.start();
  const body = otlpProtobuf(records, resource);
  for (let i = 0; i < 3; i += 1) expect((await logs.post('/v1/logs', body, PROTOBUF)).status).toBe(200);
  expect((await logs.post('/v1/logs', gzipSync(body), { ...PROTOBUF, 'content-encoding': 'gzip' })).status).toBe(200);
  const once = await logs.spentNanos();
  expect(once).toBe(200n);
  expect((await logs.search({})).items).toHaveLength(3);
  await logs.service.advance(601);
  await logs.post('/v1/logs', body, PROTOBUF);
  expect(await logs.spentNanos()).toBe(2n * once);
  expect((await logs.search({})).items).toHaveLength(6);
  await logs.service.stop();
});

test('spans are rejected, for nothing', async () => {
  const logs = await shared.withAccount();
  const json = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{}, {}] }] }] });
  const reply = await logs.post('/v1/traces', json, JSON_TYPE);
  expect(reply.status).toBe(200);
  expect(JSON.parse(reply.body.toString()).partialSuccess.rejectedSpans).toBe('2');
  // resource_spans { scope_spans { spans {} spans {} } }
  const binary = Buffer.from([0x0a, 0x06, 0x12, 0x04, 0x12, 0x00, 0x12, 0x00]);
  expect(partialOf((await logs.post('/v1/traces', binary, PROTOBUF)).body).rejected).toBe(2);
  expect((await logs.post('/v1/traces', '{}', JSON_TYPE)).body.toString()).toBe('{}');
  expect(await logs.spentNanos()).toBe(0n);
});

test('failures are google.rpc.Status in the form of the request, with our code and the ID of the request', async () => {
  const poor = new LogsBench(shared.service, await createTestAccount(shared.service.core, 0));
  const binary = await poor.post('/v1/logs', otlpProtobuf(records), PROTOBUF);
  expect([binary.status, binary.headers.get('retry-after')]).toEqual([429, '60']);
  const status = statusOf(binary.body);
  expect(status.code).toBe(8);
  expect(status.text).toContain('INSUFFICIENT_CREDIT');
  expect(status.text).toContain(binary.headers.get('x-request-id'));
  const again = await poor.post('/v1/logs', 'not read any more', JSON_TYPE);
  expect(again.status).toBe(429);
  expect(JSON.parse(again.body.toString())).toMatchObject({
    code: 8,
    details: [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'INSUFFICIENT_CREDIT', domain: 'quartermaster' },
    ],
  });
});

test.each([
  ['no key', '', PROTOBUF, 401, 16, 'API key'],
  ['broken protobuf', 'x', PROTOBUF, 400, 3, 'cannot be read'],
  ['broken JSON', '{', JSON_TYPE, 400, 3, 'not valid JSON'],
  ['a member of another type', '{"resourceLogs":{}}', JSON_TYPE, 400, 3, 'resourceLogs must be an array'],
  ['another type', 'x', { 'content-type': 'text/plain' }, 415, 3, 'application/x-protobuf'],
  ['what is no gzip', 'x', { ...PROTOBUF, 'content-encoding': 'gzip' }, 400, 3, 'not valid gzip'],
  ['another encoding', 'x', { ...PROTOBUF, 'content-encoding': 'br' }, 415, 3, 'not supported'],
] as const)('%s is refused', async (name, body, headers, status, code, message) => {
  const reply = await shared.post('/v1/logs', body, headers, name === 'no key' ? 'nobody' : undefined);
  expect(reply.status).toBe(status);
  const told: { code: number; message: string } =
    headers['content-type'] === 'application/json' ? JSON.parse(reply.body.toString()) : statusOf(reply.body);
  expect(told.code).toBe(code);
  expect(told.message).toContain(message);
});

test('the key may be the password of Basic', async () => {
  const logs = await shared.withAccount();
  const authorization = `Basic ${Buffer.from(`anybody:${logs.account.secret}`).toString('base64')}`;
  expect((await logs.post('/v1/logs', otlpProtobuf(records), { ...PROTOBUF, authorization })).status).toBe(200);
});
