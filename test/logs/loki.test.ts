// Loki's push: both forms, what lines and labels mean, and how failures are told.
import protobuf from 'protobufjs/minimal.js';
import { compress } from 'snappyjs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LogsBench } from './harness.ts';

const PATH = '/v1/logs/loki/api/v1/push';
const JSON_TYPE = { 'content-type': 'application/json' };
const PROTOBUF = { 'content-type': 'application/x-protobuf' };
const DAY_MS = 86_400_000;

let shared: LogsBench;
beforeAll(async () => {
  shared = await LogsBench.start();
});
afterAll(() => shared.service.stop());

const nowMs = Date.now();
const nanos = `${nowMs}000000`;
const push = (stream: object, ...values: readonly unknown[][]) => JSON.stringify({ streams: [{ stream, values }] });

test.each<[string, object, unknown[], object]>([
  [
    'a plain line',
    { app: 'api', level: 'warn', job: 'x' },
    ['disk full '],
    { service: 'api', level: 'warn', message: 'disk full', attributes: {}, resource: { job: 'x' } },
  ],
  [
    'service_name before service',
    { service: 'b', service_name: 'a' },
    ['m'],
    { service: 'a', level: 'info', resource: { service: 'b' } },
  ],
  [
    'what pino writes',
    { level: 'debug', service: 'shop' },
    ['{"level":10,"time":1,"pid":7,"msg":"hi","n":1}'],
    { level: 'trace', message: 'hi', attributes: { pid: 7, n: 1 } },
  ],
  [
    'what winston writes',
    { level: 'info' },
    ['hi {"level":"error","n":1}', { n: '1', m: 'x' }],
    { level: 'error', message: 'hi', service: 'unknown_service', attributes: { n: 1, m: 'x' } },
  ],
  [
    'IDs',
    {},
    ['{"msg":"m","trace_id":"5B8EFFF798038103D269B633813FC60C","span_id":"short"}'],
    { trace_id: '5b8efff798038103d269b633813fc60c', attributes: { span_id: 'short' } },
  ],
  ['braces that are no JSON', {}, ['a {b}'], { message: 'a {b}', attributes: {} }],
  ['JSON without a message', {}, ['{"a":1}'], { message: '{"a":1}', attributes: { a: 1 } }],
  ['a secret', {}, ['{"msg":"login","password":"hunter2"}'], { attributes: { password: '[scrubbed]' } }],
])('%s', async (_name, stream, [line, ...metadata], wanted) => {
  const logs = await shared.withAccount();
  expect((await logs.post(PATH, push(stream, [nanos, line, ...metadata]), JSON_TYPE)).status).toBe(204);
  expect((await logs.search({})).items).toMatchObject([{ timestamp: new Date(nowMs).toISOString(), ...wanted }]);
});

function pushRequest(labels: string, lines: readonly string[]): Buffer {
  const out = protobuf.Writer.create().uint32(10).fork().uint32(10).string(labels);
  for (const line of lines) {
    out.uint32(18).fork();
    out
      .uint32(10)
      .fork()
      .uint32(8)
      .int64(Math.floor(nowMs / 1_000))
      .uint32(16)
      .int32((nowMs % 1_000) * 1e6)
      .ldelim();
    out.uint32(18).string(line).uint32(26).fork().uint32(10).string('pod').uint32(18).string('p-1').ldelim().ldelim();
  }
  return Buffer.from(out.ldelim().finish());
}

test.each([3, 4_000])('snappy protobuf of %i lines', async (count) => {
  const logs = await shared.withAccount();
  const lines = Array.from({ length: count }, (_, i) => `line ${i} ${'x'.repeat(i % 50)}`);
  const body = compress(pushRequest('{app="a\\"b", level="error" , zone="eu",}', lines));
  expect((await logs.post(PATH, body, PROTOBUF)).status).toBe(204);
  const { items } = await logs.search({ q: `line ${count - 1}` });
  expect(items).toMatchObject([
    {
      service: 'a"b',
      level: 'error',
      resource: { zone: 'eu' },
      attributes: { pod: 'p-1' },
      timestamp: new Date(nowMs).toISOString(),
    },
  ]);
});

test.each<[string, string | Buffer, Record<string, string>, number, string]>([
  ['broken JSON', '{', JSON_TYPE, 400, 'INVALID_REQUEST: The body cannot be read: it is not valid JSON.'],
  ['a time that is no text', push({}, [1, 'm']), JSON_TYPE, 400, 'nanoseconds'],
  ['labels that are objects', push({ a: {} }, [nanos, 'm']), JSON_TYPE, 400, 'must hold strings'],
  ['what is no snappy', 'xxxxxxxx', PROTOBUF, 400, 'snappy'],
  ['labels without braces', compress(pushRequest('a=1', ['m'])), PROTOBUF, 400, 'braces'],
  ['labels without quotes', compress(pushRequest('{a=1}', ['m'])), PROTOBUF, 400, 'pairs'],
  ['another type', 'x', { 'content-type': 'text/plain' }, 415, 'application/json'],
  ['only old entries', push({}, [`${nowMs - 31 * DAY_MS}000000`, 'm']), JSON_TYPE, 400, '30 days'],
])('%s is refused in words', async (_name, body, headers, status, message) => {
  const reply = await shared.post(PATH, body, headers);
  expect([reply.status, reply.headers.get('content-type')]).toEqual([status, 'text/plain; charset=utf-8']);
  expect(reply.body.toString()).toContain(message);
  expect(reply.body.toString()).toContain(reply.headers.get('x-request-id'));
});
