// Metadata of a collection: kept as it was sent, limited as it is kept, compared by what it says.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { VectorBench } from './harness.ts';

let bench: VectorBench;
beforeAll(async () => {
  bench = await VectorBench.start();
});
afterAll(() => bench.service.stop());

const CREATE = '/v1/vector/collection/create';

test('neither the order of keys nor white space is a setting; a number that is sent otherwise is', async () => {
  const b = await bench.withAccount();
  const send = (metadata: string) => b.call('POST', CREATE, `{"collection":"c","dimension":1,"metadata":${metadata}}`);
  const first = await send('{"a":1,"b":{"x":[1,2],"y":"é"},"big":18446744073709551616}');
  expect(first.status).toBe(200);
  const again = await send('{ "big": 18446744073709551616, "b": {"y":"\\u00e9", "x":[1,2]},\n"a": 1.0 }');
  expect(again.body.data).toEqual(first.body.data);
  expect(again.text).toContain('{"a":1,"b":{"x":[1,2],"y":"é"},"big":18446744073709551616}');
  for (const other of ['{"a":1}', 'null', '{"a":1,"b":{"x":[2,1],"y":"é"},"big":18446744073709551616}'])
    expect((await send(other)).status).toBe(409);
  expect((await send('{"a":1,"b":{"x":[1,2],"y":"é"},"big":18446744073709551617}')).status).toBe(409);
});

test('metadata is 16 KiB as it is stored, white space and escapes included', async () => {
  const b = await bench.withAccount();
  const send = (collection: string, metadata: string) =>
    b.call('POST', CREATE, `{"collection":"${collection}","dimension":1,"metadata":${metadata}}`);
  const spaced = (bytes: number) => `{"a":1${' '.repeat(bytes - 7)}}`;
  expect((await send('fits', spaced(16_384))).status).toBe(200);
  for (const metadata of [spaced(16_385), spaced(60_000), `{"a":"${'\\u0061'.repeat(3_000)}"}`]) {
    const { status, body } = await send('more', metadata);
    expect([status, body.error.code, body.error.param]).toEqual([400, 'VALIDATION_FAILED', 'metadata']);
  }
});
