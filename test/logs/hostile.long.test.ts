// Bodies that mean harm: each is refused or stored within bounds, quickly, and the next request is served.
import { gzipSync } from 'node:zlib';
import protobuf from 'protobufjs/minimal.js';
import { compress } from 'snappyjs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { LogsBench } from './harness.ts';
import { otlpJson, otlpProtobuf, partialOf } from './otlp.ts';

const PROTOBUF = { 'content-type': 'application/x-protobuf' };
const JSON_TYPE = { 'content-type': 'application/json' };
const LOKI = '/v1/logs/loki/api/v1/push';
const MIB = 1024 * 1024;

let logs: LogsBench;
beforeAll(async () => {
  logs = await LogsBench.start();
});
afterAll(() => logs.service.stop());
afterEach(async () => {
  expect((await logs.post('/v1/logs', otlpProtobuf([{ body: `alive ${Math.random()}` }]), PROTOBUF)).status).toBe(200);
});

const field = (number: number) => (number << 3) | 2;

/** A request whose only record has these bytes. */
function withRecord(record: Uint8Array): Buffer {
  const out = protobuf.Writer.create();
  out.uint32(field(1)).fork().uint32(field(2)).fork().uint32(field(2)).bytes(record);
  return Buffer.from(out.ldelim().ldelim().finish());
}

/** A value in so many lists. */
function deepValue(levels: number): Uint8Array {
  let value = protobuf.Writer.create().uint32(field(1)).string('x').finish();
  for (let i = 0; i < levels; i += 1) {
    const list = protobuf.Writer.create().uint32(field(1)).bytes(value).finish();
    value = protobuf.Writer.create().uint32(field(5)).bytes(list).finish();
  }
  return value;
}

const good = otlpProtobuf([{ body: 'm', attributes: { a: 1, b: 'x' }, severity: 9 }], { 'service.name': 's' });
const body = (value: Uint8Array) => withRecord(protobuf.Writer.create().uint32(field(5)).bytes(value).finish());

test.each<[string, string, Uint8Array | string, Record<string, string>, number]>([
  ['a length of 2 GiB', '/v1/logs', Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x07]), PROTOBUF, 400],
  ['a value in 1,000 lists', '/v1/logs', body(deepValue(1_000)), PROTOBUF, 400],
  ['groups in groups', '/v1/logs', Buffer.alloc(60_000, 0x0b), PROTOBUF, 400],
  ['bytes of nothing', '/v1/logs', Buffer.alloc(300_000, 0xff), PROTOBUF, 400],
  [
    'JSON in 100,000 lists',
    '/v1/logs',
    `{"resourceLogs":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    JSON_TYPE,
    400,
  ],
  ['a bomb of gzip', '/v1/logs', gzipSync(Buffer.alloc(64 * MIB)), { ...PROTOBUF, 'content-encoding': 'gzip' }, 413],
  ['more than 8 MiB', '/v1/logs', Buffer.alloc(8 * MIB + 1), PROTOBUF, 413],
  ['a bomb of snappy', LOKI, compress(Buffer.alloc(32 * MIB)), PROTOBUF, 400],
  ['snappy that says it is 4 GiB', LOKI, Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2]), PROTOBUF, 400],
  [
    'labels without an end',
    LOKI,
    compress(
      Buffer.concat([Buffer.from([0x0a, 0x90, 0x4e, 0x0a, 0x8d, 0x4e]), Buffer.from(`{a="${'\\'.repeat(9_993)}`)]),
    ),
    PROTOBUF,
    400,
  ],
  ['streams that are no list', LOKI, '{"streams":{"a":1}}', JSON_TYPE, 400],
])('%s is refused', async (_name, path, sent, headers, status) => {
  const reply = await logs.post(path, sent, headers);
  expect(reply.status, reply.body.toString('latin1').slice(0, 300)).toBe(status);
});

test('a request that is cut anywhere, or has a byte changed, is answered 200 or 400', async () => {
  const statuses = new Set<number>();
  for (let at = 0; at < good.length; at += 1) {
    statuses.add((await logs.post('/v1/logs', good.subarray(0, at), PROTOBUF)).status);
    const changed = Buffer.from(good);
    changed[at] = (changed[at] as number) ^ 0x2f;
    statuses.add((await logs.post('/v1/logs', changed, PROTOBUF)).status);
  }
  expect([...statuses].sort()).toEqual([200, 400]);
});

test('a record of a million attributes keeps 128 of them', async () => {
  const out = protobuf.Writer.create();
  const pair = protobuf.Writer.create().uint32(field(1)).string('n').finish();
  for (let i = 0; i < 1_000_000; i += 1)
    out.uint32(field(6)).bytes(i < 200 ? protobuf.Writer.create().uint32(field(1)).string(`n${i}`).finish() : pair);
  const many = await logs.withAccount();
  expect((await many.post('/v1/logs', withRecord(out.finish()), PROTOBUF)).status).toBe(200);
  const [record] = (await many.search({})).items;
  expect([Object.keys(record.attributes).length, record.is_cut]).toEqual([128, true]);
});

test('10,000 records with other names each are stored, found and merged', async () => {
  const many = await logs.withAccount();
  const nowMs = Date.now();
  const records = Array.from({ length: 10_001 }, (_, i) => ({
    timeMs: nowMs - i,
    body: `b${i}`,
    attributes: Object.fromEntries(Array.from({ length: 10 }, (_each, j) => [`name ${i} ${j}`, `v${i % 7}`])),
  }));
  const sent = await many.post('/v1/logs', otlpProtobuf(records), PROTOBUF);
  expect(partialOf(sent.body)).toEqual({ rejected: 1, message: 'A request may have at most 10000 records.' });
  const hour = Math.floor(nowMs / 3_600_000) * 3_600_000;
  await many.post('/v1/logs', otlpJson([{ timeMs: Math.max(hour, nowMs - 5_000), body: 'late' }]), JSON_TYPE);
  await many.sweep('merge');
  expect((await many.search({ 'filter.name 4999 3': 'v1' })).items).toMatchObject([{ message: 'b4999' }]);
  const fields = await many.fields({});
  expect([fields.is_complete, fields.services]).toEqual([false, [{ name: 'unknown_service', records: 10_001 }]]);
});
