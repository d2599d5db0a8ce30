// Native ingest: money to the nano-USD, what is rejected, cut, cleaned and replayed; retention.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LogsBench } from './harness.ts';

const DAY_MS = 86_400_000;

let shared: LogsBench;
beforeAll(async () => {
  shared = await LogsBench.start();
});
afterAll(() => shared.service.stop());

const now = () => new Date().toISOString();

/** What a record is weighed by. */
function bytesOf(record: Record<string, unknown>): number {
  const {
    timestamp,
    level = 'info',
    service = 'unknown_service',
    message,
    attributes = {},
    trace_id = null,
    span_id = null,
  } = record;
  return Buffer.byteLength(JSON.stringify({ timestamp, level, service, message, attributes, trace_id, span_id }));
}

test.each<[string, Record<string, unknown>[]]>([
  ['a short record', [{ message: 'm' }]],
  ['exactly a KiB', [{ message: 'x'.repeat(1_024 - bytesOf({ timestamp: now(), message: '' })) }]],
  ['a byte more', [{ message: 'x'.repeat(1_025 - bytesOf({ timestamp: now(), message: '' })) }]],
  ['escapes and scripts', [{ message: '"\\\n\u0001é数🙂'.repeat(200), service: 'Größe', level: 'fatal' }]],
  [
    'attributes',
    [
      {
        message: 'm',
        attributes: { a: 1, 'b"': [1, 'é'], c: { d: null }, e: 'x'.repeat(2_000), f: true },
        trace_id: 'a'.repeat(32),
        span_id: 'b'.repeat(16),
      },
    ],
  ],
  ['many', Array.from({ length: 300 }, (_, i) => ({ message: `m ${i}`, attributes: { i, same: 'x' } }))],
])('%s costs what its JSON has of KiB', async (_name, sent) => {
  const logs = await shared.withAccount();
  const records = sent.map((record) => ({ timestamp: now(), ...record }));
  await logs.ingest(records);
  const bytes = records.reduce((sum, record) => sum + bytesOf(record), 0);
  expect(await logs.spentNanos()).toBe(200n * BigInt(Math.ceil(bytes / 1_024)));
  // The answer is what was weighed.
  const { items } = await logs.search({ limit: 100 });
  expect(
    items.every((item: Record<string, unknown>) => bytesOf(item) === Buffer.byteLength(JSON.stringify(item))),
  ).toBe(true);
});

test('what is out of its time is named, and costs nothing alone', async () => {
  const logs = await shared.withAccount();
  const old = { message: 'old', timestamp: new Date(Date.now() - 31 * DAY_MS).toISOString() };
  const ahead = { message: 'ahead', timestamp: new Date(Date.now() + 11 * 60_000).toISOString() };
  const rejected = [
    { index: 0, reason: 'timestamp is more than 30 days old.' },
    { index: 1, reason: 'timestamp is more than 10 minutes ahead.' },
  ];
  expect(await logs.ingest([old, ahead])).toEqual({ accepted: 0, rejected });
  expect(await logs.spentNanos()).toBe(0n);
  expect(await logs.ingest([old, ahead, { message: 'now' }])).toEqual({ accepted: 1, rejected });
  expect((await logs.search({})).items).toMatchObject([{ message: 'now', level: 'info', service: 'unknown_service' }]);
});

test('a call under one idempotency key is stored and charged once', async () => {
  const logs = await shared.withAccount();
  const body = { items: [{ message: 'once' }], idempotency_key: 'k-1' };
  for (let i = 0; i < 3; i += 1) await logs.ok('POST', '/v1/logs/ingest', body);
  expect((await logs.search({})).items).toHaveLength(1);
  expect(await logs.spentNanos()).toBe(200n);
});

test('items are taken by the name that they had, in a short body and in a long one that a thread reads', async () => {
  const logs = await shared.withAccount();
  for (const message of ['short', 'long '.repeat(20_000)])
    expect(await logs.ok('POST', '/v1/logs/ingest', { records: [{ message }] })).toEqual({ accepted: 1, rejected: [] });
});

test('attributes are filtered by name, by brackets, as JSON, as a list, and by the name that the filter had', async () => {
  const logs = await shared.withAccount();
  await logs.ingest([{ message: 'found', attributes: { zone: 'eu', n: 3 } }, { message: 'other' }]);
  for (const filter of [
    'filter.zone=eu&filter.n=3',
    'filter[zone]=eu&filter[n]=3',
    'filter={"zone":"eu","n":3}',
    'filter=[{"field":"zone","operator":"equals","value":"eu"},{"field":"n","value":3}]',
    'attributes.zone=eu&attributes.n=3',
  ]) {
    const { items } = await logs.ok('GET', `/v1/logs/search?${filter}`);
    expect([filter, items.map(({ message }: { message: string }) => message)]).toEqual([filter, ['found']]);
    expect((await logs.ok('GET', `/v1/logs/histogram?${filter}`)).total).toBe(1);
  }
});

test('an attribute without a name is found by that name', async () => {
  const logs = await shared.withAccount();
  await logs.ingest([
    { message: 'none', attributes: { '': 'x' } },
    { message: 'other', attributes: { a: 'x' } },
  ]);
  expect((await logs.search({ filter: '{"":"x"}' })).items).toMatchObject([{ message: 'none' }]);
});

test('secrets are gone before anything is stored, whatever they stand in; IDs stay', async () => {
  const logs = await shared.withAccount();
  const trace = '4111111111111111'.repeat(2);
  const card = '4111 1111 1111 1111';
  await logs.ingest([
    {
      message: `paid with ${card}`,
      trace_id: trace,
      attributes: { password: 'hunter2', nested: { api_key: 'abc' }, [`x ${card}`]: 1 },
    },
    { message: 'a pair', attributes: { name: 'authorization', value: 'opaque-secret' } },
  ]);
  const { items } = await logs.search({ order: 'oldest' });
  expect(items[0]).toMatchObject({
    message: 'paid with [scrubbed]',
    trace_id: trace,
    attributes: { password: '[scrubbed]', nested: { api_key: '[scrubbed]' }, 'x [scrubbed]': 1 },
  });
  expect(items[1].attributes).toEqual({ name: 'authorization', value: '[scrubbed]' });
  expect((await logs.search({ q: 'hunter2' })).items).toEqual([]);
  expect((await logs.search({ 'filter.password': 'hunter2' })).items).toEqual([]);
});

test('a record that is too long is cut, and says so', async () => {
  const logs = await shared.withAccount();
  const attributes = { small: 1, large: 'y'.repeat(200_000), later: 'z' };
  await logs.ingest([
    { message: 'x'.repeat(300_000), attributes },
    { message: 'm'.repeat(1_000), attributes },
  ]);
  const { items } = await logs.search({ order: 'oldest' });
  expect(items[0].is_cut).toBe(true);
  expect(bytesOf(items[0])).toBeLessThanOrEqual(256 * 1_024);
  expect(items[0].message.length).toBeGreaterThan(250_000);
  expect(items[1].is_cut).toBeUndefined();
  expect(items[1].attributes).toEqual(attributes);
  expect(
    (
      await logs.fails('POST', '/v1/logs/ingest', {
        items: [{ message: 'm', attributes: Object.fromEntries(Array.from({ length: 129 }, (_, i) => [`a${i}`, i])) }],
      })
    ).code,
  ).toBe('VALIDATION_FAILED');
});

test('retention hides what is older at once, and a sweep deletes it', async () => {
  const logs = await LogsBench.start();
  const at = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
  await logs.ingest([0, 1, 5, 13, 20].map((days) => ({ message: `day ${days}`, timestamp: at(days) })));
  const messages = async () => (await logs.search({})).items.map(({ message }: { message: string }) => message);
  expect(await messages()).toEqual(['day 0', 'day 1', 'day 5', 'day 13']);
  expect(await logs.ok('PUT', '/v1/logs/settings/set', { retention_days: 3 })).toEqual({ retention_days: 3 });
  expect(await messages()).toEqual(['day 0', 'day 1']);
  expect((await logs.histogram({ from: at(40), interval_seconds: 86_400 })).total).toBe(2);
  expect((await logs.fields({})).services).toEqual([{ name: 'unknown_service', records: 2 }]);
  await logs.sweep('retention');
  await logs.ok('PUT', '/v1/logs/settings/set', { retention_days: 30 });
  expect(await messages()).toEqual(['day 0', 'day 1']);
  expect((await logs.fails('PUT', '/v1/logs/settings/set', { retention_days: 91 })).code).toBe('VALIDATION_FAILED');
  await logs.service.stop();
});

test.each([
  ['from=yesterday', 'from'],
  ['level=loud', 'level'],
  ['trace_id=1', 'trace_id'],
  ['limit=101', 'limit'],
  [`filter.a=${'x'.repeat(1_025)}`, 'filter.a'],
  ['filter=[{"field":"a","operator":"gt","value":1}]', 'filter[0].operator'],
  ['order=sideways', 'order'],
])('a search with %s names the field', async (query, param) => {
  expect(await shared.fails('GET', `/v1/logs/search?${query}`)).toMatchObject({ code: 'VALIDATION_FAILED', param });
});
