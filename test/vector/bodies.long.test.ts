// The longest bodies, full of what takes most memory for its bytes: they end no thread that reads them.
import { ReadableStream } from 'node:stream/web';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UPSERT_BODY_BYTES_MAX } from '../../src/modules/vector/limits.ts';
import { VectorBench } from './harness.ts';

let bench: VectorBench;
beforeAll(async () => {
  bench = await VectorBench.start();
  await bench.create('docs', 3);
});
afterAll(() => bench.service.stop());

test.each([5 * 1024 * 1024, UPSERT_BODY_BYTES_MAX])('%i bytes, whole and in chunks', async (bytes) => {
  const start = JSON.stringify({ collection: 'docs', vectors: [{ id: 'a', embedding: [1, 2, 3] }] });
  const body = Buffer.from(start + ' '.repeat(bytes - start.length));
  const send = async (sent: Buffer | ReadableStream) => {
    const headers = { authorization: `Bearer ${bench.account.secret}`, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: sent, duplex: 'half' } as RequestInit;
    return (await (await fetch(`${bench.service.url}/v1/vector/upsert`, init)).json()) as {
      data: { upserted: number };
    };
  };
  expect((await send(body)).data.upserted).toBe(1);
  expect((await send(inChunks(body))).data.upserted).toBe(1);
});

function inChunks(body: Buffer): ReadableStream {
  const sizes = [1, 700, 65_537, 1_048_573];
  return ReadableStream.from(
    (function* () {
      for (let at = 0, i = 0; at < body.length; at += sizes[i % sizes.length] as number, i += 1)
        yield body.subarray(at, at + (sizes[i % sizes.length] as number));
    })(),
  );
}

/** What is answered to a body of all bytes there may be, of `part` again and again and `last`. */
async function answerTo(start: string, part: string, last: string) {
  const room = UPSERT_BODY_BYTES_MAX - start.length - last.length;
  const body = start + part.repeat(Math.floor(room / part.length)) + last;
  return (await bench.call('POST', '/v1/vector/upsert', body, { 'idempotency-key': 'k' })).body;
}

test.each(['[],', '[[]],', '{},', '{"a":{}},'])(
  'millions of %j are refused before they take all memory',
  async (part) => {
    const { error } = await answerTo('{"collection":"docs","vectors":[', part, '[]]}');
    expect([error.http_status, error.code, error.code_detail]).toEqual([413, 'PAYLOAD_TOO_LARGE', 'containers']);
  },
);

test('16 million numbers are only too many', async () => {
  const { error } = await answerTo('{"collection":"docs","vectors":[{"id":"a","embedding":[', '1,', '1]}]}');
  expect(error.code).toBe('DIMENSION_MISMATCH');
}, 600_000);
