// Bodies that may be long, as they come over the wire: whole or in chunks, too long, cut off, of a wrong kind.
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { admission } from '../../src/core/admission.ts';
import { metric } from '../admission/harness.ts';
import { openRaw } from '../support/raw.ts';
import { numbers, VectorBench } from './harness.ts';

const MIB = 1024 * 1024;

let bench: VectorBench;
beforeAll(async () => {
  bench = await VectorBench.start();
  await bench.create('docs', 3);
});
afterAll(() => bench.service.stop());

function open(headers: Record<string, string | number> = {}): ClientRequest {
  return request(`${bench.service.url}/v1/vector/upsert`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bench.account.secret}`, 'content-type': 'application/json', ...headers },
  });
}

async function answerTo(sent: ClientRequest) {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, ...JSON.parse(await text(response)) };
}

function bodyOf(bytes: number): string {
  const body = JSON.stringify({ collection: 'docs', vectors: [{ id: 'a', embedding: numbers(3) }] });
  return body + ' '.repeat(bytes - body.length);
}

test.each([200, 60_000, 70_000, MIB, MIB + 1])('%i bytes, whole and in chunks of any size', async (bytes) => {
  const body = Buffer.from(bodyOf(bytes));
  const whole = open({ 'content-length': body.length });
  whole.end(body);
  expect((await answerTo(whole)).data.upserted).toBe(1);
  const chunked = open({ 'transfer-encoding': 'chunked' });
  const sizes = [1, 700, 65_537, MIB - 3];
  for (let at = 0, i = 0; at < body.length; i += 1) {
    const size = sizes[i % sizes.length] as number;
    if (!chunked.write(body.subarray(at, at + size))) await once(chunked, 'drain');
    at += size;
  }
  chunked.end();
  expect((await answerTo(chunked)).data.upserted).toBe(1);
});

test('a character cut in two by chunks and blocks is one', async () => {
  const id = 'ä'.repeat(100);
  const body = JSON.stringify({ x: 'ü'.repeat(MIB), collection: 'docs', vectors: [{ id, embedding: [1, 2, 3] }] });
  const bytes = Buffer.from(`${body.slice(0, 6)}-${body.slice(6)}`);
  const sent = open({ 'transfer-encoding': 'chunked', 'x-qm-unknown-fields': 'warn' });
  for (let at = 0; at < bytes.length; at += 333_333) sent.write(bytes.subarray(at, at + 333_333));
  sent.end();
  expect((await answerTo(sent)).data.id).toBe(id);
});

test('beyond 32 MiB: refused by the length it announces, else when it has come', async () => {
  const announced = open({ 'content-length': 32 * MIB + 1 });
  announced.on('error', () => undefined);
  announced.write('{');
  expect(await answerTo(announced)).toMatchObject({ status: 413, error: { code: 'PAYLOAD_TOO_LARGE' } });
  announced.destroy();
  const chunked = open({ 'transfer-encoding': 'chunked' });
  chunked.on('error', () => undefined);
  const answered = answerTo(chunked);
  let isAnswered = false;
  void answered.then(() => {
    isAnswered = true;
  });
  const block = Buffer.alloc(MIB, 32);
  for (let sent = 0; sent < 40 && !isAnswered; sent += 1) {
    if (!chunked.write(block)) await Promise.race([once(chunked, 'drain'), answered]);
  }
  expect(await answered).toMatchObject({ status: 413, error: { code: 'PAYLOAD_TOO_LARGE' } });
  chunked.destroy();
});

test('what is no JSON in UTF-8', async () => {
  const answer = async (headers: Record<string, string>, body: Buffer) => {
    const sent = open({ ...headers, 'content-length': body.length });
    sent.end(body);
    const { status, error } = await answerTo(sent);
    return [status, error.code];
  };
  const body = Buffer.from(bodyOf(200_000));
  expect(await answer({ 'content-type': 'text/plain' }, body)).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  expect(await answer({ 'content-encoding': 'gzip' }, body)).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  body[199_999] = 0xff;
  expect(await answer({}, body)).toEqual([400, 'MALFORMED_JSON']);
  expect(await answer({}, Buffer.alloc(0))).toEqual([400, 'VALIDATION_FAILED']);
});

test('uploads that are cut off leave nothing behind, and take no place from later ones', async () => {
  const head = (length: number) =>
    `POST /v1/vector/upsert HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${bench.account.secret}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
  const held = () => metric(bench.service, 'qm_body_bytes');
  // Ten times what the bodies of one account may take together.
  for (let round = 0; round < 20; round += 1) {
    const connection = await openRaw(bench.service.url);
    connection.send(head(30 * MIB) + bodyOf(100_000));
    await expect.poll(held, { interval: 5 }).toBeGreaterThan(0);
    connection.destroy();
    await expect.poll(held, { interval: 5 }).toBe(0);
  }
  const before = await bench.get('docs');
  expect(await bench.upsert('docs', [{ id: 'after', embedding: [1, 1, 1] }])).toMatchObject({ ok: true });
  expect((await bench.get('docs')).vector_count).toBe(before.vector_count + 1);
});

test('several long bodies at once: each gets its own answer', async () => {
  const upsert = (n: number) => {
    const pad = 'x'.repeat(300);
    const vectors = Array.from({ length: 300 + n }, (_, i) => ({
      id: `${n}-${i}`,
      embedding: numbers(3, i),
      metadata: { pad },
    }));
    return bench.upsert('docs', vectors);
  };
  const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => upsert(n)));
  expect(answers.map(({ upserted }) => upserted)).toEqual([300, 301, 302, 303, 304, 305, 306, 307]);
});

test.each([
  ['[],', 1],
  ['[[]],', 2],
  ['{},', 1],
  ['{"a":{}},', 2],
])('too many of %j are refused before they are read; calls beside them go on', async (part, containers) => {
  const parts = part.repeat(admission.call.containersMax / containers);
  const hostile = Buffer.from(`{"collection":"docs","vectors":[${parts}[]]}`);
  const sent = open({ 'content-length': hostile.length });
  sent.end(hostile);
  const pad = 'x'.repeat(300);
  const vectors = Array.from({ length: 400 }, (_, i) => ({ id: `${i}`, embedding: numbers(3, i), metadata: { pad } }));
  const [refused, upserted] = await Promise.all([answerTo(sent), bench.upsert('docs', vectors)]);
  expect([refused.status, refused.error.code, refused.error.code_detail]).toEqual([
    ...[413, 'PAYLOAD_TOO_LARGE', 'containers'],
  ]);
  expect(upserted.upserted).toBe(400);
});

test('more numbers than there may be objects and arrays are only too many for the collection', async () => {
  const list = `${'1,'.repeat(admission.call.containersMax)}1`;
  const body = Buffer.from(`{"collection":"docs","vectors":[{"id":"a","embedding":[${list}]}]}`);
  const sent = open({ 'content-length': body.length, 'idempotency-key': 'k' });
  sent.end(body);
  expect((await answerTo(sent)).error.code).toBe('DIMENSION_MISMATCH');
});
