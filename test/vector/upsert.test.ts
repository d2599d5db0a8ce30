// Upserts: what is stored, what is refused, what it costs, and that repeats cost nothing.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptedUnits } from '../../src/core/wallet/ledger/accepted-units.ts';
import { base64, numbers, UPSERT_NANOS_MIN, VECTOR_NANOS, VectorBench } from './harness.ts';

let shared: VectorBench;
let bench: VectorBench;
beforeAll(async () => {
  shared = await VectorBench.start();
  bench = await shared.withAccount();
  await bench.create('docs', 3);
});
afterAll(() => shared.service.stop());

test('vectors come back as they were sent, rounded once to 32 bits', async () => {
  const embedding = [0.1, -1e-30, 16_777_217];
  expect(await bench.upsert('docs', [{ id: 'a', embedding, metadata: { n: 1.5, list: [1, 'x', null] } }])).toEqual({
    collection: 'docs',
    upserted: 1,
    ok: true,
    id: 'a',
  });
  await bench.upsert('docs', [{ id: 'b', embedding: base64(embedding) }]);
  const { items } = await bench.fetch('docs', ['b', 'a', 'none', 'a'], { include_values: true });
  const stored = embedding.map(Math.fround);
  expect(items).toEqual([
    { id: 'b', metadata: null, embedding: stored },
    { id: 'a', metadata: { n: 1.5, list: [1, 'x', null] }, embedding: stored },
  ]);
});

test('of an id sent twice the last counts, once, also for the price; an upsert overwrites whole', async () => {
  const b = await shared.withAccount();
  await b.create('twice', 1);
  const sent = Array.from({ length: 50 }, (_, i) => ({ id: `v${i % 25}`, embedding: [i + 1], metadata: { i } }));
  expect(await b.upsert('twice', sent)).toEqual({ collection: 'twice', upserted: 25, ok: true, id: null });
  expect(await b.spentNanos()).toBe(25n * VECTOR_NANOS);
  await b.upsert('twice', [{ id: 'v3', embedding: [7] }]);
  const { items } = await b.fetch('twice', ['v3', 'v4'], { include_values: true });
  expect(items).toEqual([
    { id: 'v3', metadata: null, embedding: [7] },
    { id: 'v4', metadata: { i: 29 }, embedding: [30] },
  ]);
  expect((await b.get('twice')).vector_count).toBe(25);
});

describe('prices', () => {
  test.each([1, 10, 11, 100, 101, 1000])('%i vectors', async (count) => {
    const b = await shared.withAccount();
    await b.create('priced', 2);
    const vectors = Array.from({ length: count }, (_, i) => ({ id: `v${i}`, embedding: [1, i] }));
    const reply = await b.tryUpsert('priced', vectors);
    const nanos = count <= 10 ? UPSERT_NANOS_MIN : BigInt(count) * VECTOR_NANOS;
    expect(reply.body.metadata.cost_usd).toBe(Number(nanos) / 1e9);
    expect(await b.spentNanos()).toBe(nanos);
    expect(await acceptedUnits(b.service.core.db, b.account.accountId)).toEqual(
      new Map([['vector.upsert', BigInt(count)]]),
    );
    expect((await b.get('priced')).vector_count).toBe(count);
  });
});

describe('refusals leave nothing and cost nothing', () => {
  const many = (last: object) => [
    ...Array.from({ length: 300 }, (_, i) => ({ id: `r${i}`, embedding: numbers(3, i) })),
    last,
  ];
  const cases: [string, object, string, string][] = [
    ['another length', { id: 'x', embedding: [1, 2] }, 'DIMENSION_MISMATCH', 'embedding'],
    ['no numbers', { id: 'x', embedding: [] }, 'DIMENSION_MISMATCH', 'embedding'],
    ['base64 of another length', { id: 'x', embedding: base64([1]) }, 'DIMENSION_MISMATCH', 'embedding'],
    ['not base64', { id: 'x', embedding: 'AAA' }, 'VALIDATION_FAILED', 'embedding'],
    ['NaN in base64', { id: 'x', embedding: base64([1, Number.NaN, 1]) }, 'VALIDATION_FAILED', 'embedding[1]'],
    ['beyond 32 bits', { id: 'x', embedding: [1, 1, 1e39] }, 'VALIDATION_FAILED', 'embedding[2]'],
    ['a text among numbers', { id: 'x', embedding: [1, 'NaN', 1] }, 'VALIDATION_FAILED', 'embedding[1]'],
    ['zeros under cosine', { id: 'x', embedding: [0, 0, 1e-60] }, 'VALIDATION_FAILED', 'embedding'],
    ['NUL in the id', { id: 'a\0', embedding: [1, 1, 1] }, 'VALIDATION_FAILED', 'id'],
    ['half a surrogate pair in the id', { id: 'a\ud800', embedding: [1, 1, 1] }, 'VALIDATION_FAILED', 'id'],
    ['an id of 257 bytes', { id: 'ä'.repeat(129), embedding: [1, 1, 1] }, 'VALIDATION_FAILED', 'id'],
    [
      'NUL in metadata',
      { id: 'x', embedding: [1, 1, 1], metadata: { a: ['\0'] } },
      'VALIDATION_FAILED',
      'metadata.a[0]',
    ],
    [
      'a surrogate in a key',
      { id: 'x', embedding: [1, 1, 1], metadata: { '\udfff': 1 } },
      'VALIDATION_FAILED',
      'metadata',
    ],
    [
      '65 keys',
      { id: 'x', embedding: [1, 1, 1], metadata: Object.fromEntries(numbers(65).map((n, i) => [`k${i}`, n])) },
      'VALIDATION_FAILED',
      'metadata',
    ],
    [
      '17 KiB of metadata',
      { id: 'x', embedding: [1, 1, 1], metadata: { a: 'x'.repeat(17_000) } },
      'VALIDATION_FAILED',
      'metadata',
    ],
    ['metadata that is no object', { id: 'x', embedding: [1, 1, 1], metadata: [1] }, 'VALIDATION_FAILED', 'metadata'],
  ];
  test.each(cases)('%s', async (_, vector, code, field) => {
    const before = await bench.get('docs');
    const small = await bench.fails('POST', '/v1/vector/upsert', { collection: 'docs', vectors: [vector] });
    expect([small.code, small.param]).toEqual([code, `vectors[0].${field}`]);
    // The same after a detour through a thread, and as a write of its own.
    const vectors = many(vector).map((one, i) => (i === 0 ? { ...one, metadata: { pad: 'x'.repeat(15_000) } } : one));
    const padded = vectors.map((one, i) => (i < 5 ? { ...one, metadata: { pad: 'x'.repeat(15_000) } } : one));
    const large = await bench.fails('POST', '/v1/vector/upsert', { collection: 'docs', vectors: padded });
    expect([large.code, large.param]).toEqual([code, `vectors[300].${field}`]);
    expect(large.message.replace('[300]', '[0]')).toBe(small.message);
    expect(await bench.get('docs')).toEqual(before);
  });

  test('a number that JSON cannot hold', async () => {
    const text = (at: string) => `{"collection":"docs","vectors":[{"id":"x",${at}}]}`;
    const inEmbedding = await bench.fails('POST', '/v1/vector/upsert', text('"embedding":[1,1e999,1]'));
    expect([inEmbedding.code, inEmbedding.param]).toEqual(['VALIDATION_FAILED', 'vectors[0].embedding[1]']);
    const inMetadata = await bench.fails(
      'POST',
      '/v1/vector/upsert',
      text('"embedding":[1,1,1],"metadata":{"a":{"b":1e999}}'),
    );
    expect([inMetadata.code, inMetadata.param]).toEqual(['VALIDATION_FAILED', 'vectors[0].metadata.a.b']);
    const notJson = await bench.fails('POST', '/v1/vector/upsert', text('"embedding":[1,NaN,1]'));
    expect(notJson.code).toBe('MALFORMED_JSON');
  });

  test('a missing collection, no vectors, too many vectors', async () => {
    const vectors = [{ id: 'a', embedding: [1] }];
    expect(await bench.fails('POST', '/v1/vector/upsert', { collection: 'none', vectors })).toMatchObject({
      code: 'COLLECTION_NOT_FOUND',
      param: 'collection',
    });
    expect((await bench.fails('POST', '/v1/vector/upsert', { collection: 'docs', vectors: [] })).param).toBe('vectors');
    const tooMany = Array.from({ length: 1_001 }, (_, i) => ({ id: `${i}`, embedding: [1, 1, 1] }));
    expect((await bench.fails('POST', '/v1/vector/upsert', { collection: 'docs', vectors: tooMany })).param).toBe(
      'vectors',
    );
  });

  test('an empty wallet', async () => {
    const poor = await shared.withAccount(0.00001);
    await poor.create('docs', 1);
    const vectors = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `${i}`, embedding: [1] }));
    for (const count of [11, 200])
      expect(
        (await poor.fails('POST', '/v1/vector/upsert', { collection: 'docs', vectors: vectors(count) })).code,
      ).toBe('INSUFFICIENT_CREDIT');
    expect((await poor.get('docs')).vector_count).toBe(0);
    await poor.upsert('docs', vectors(10));
    expect((await poor.get('docs')).vector_count).toBe(10);
  });
});

describe('repeats', () => {
  test.each([1, 300])(
    'an upsert of %i vectors with a key is done once; another request with it is refused',
    async (count) => {
      const b = await shared.withAccount();
      await b.create('once', 3);
      const vectors = Array.from({ length: count }, (_, i) => ({
        id: `v${i}`,
        embedding: numbers(3, i),
        metadata: { pad: 'x'.repeat(500) },
      }));
      const body = { collection: 'once', vectors, idempotency_key: 'k' };
      const first = await b.call('POST', '/v1/vector/upsert', body);
      const spent = await b.spentNanos();
      await b.upsert('once', [{ id: 'v0', embedding: [9, 9, 9] }]);
      const again = await b.call('POST', '/v1/vector/upsert', JSON.stringify(body, null, 1));
      expect(again.body.data).toEqual(first.body.data);
      expect(again.body.metadata).toMatchObject({ idempotent_replay: true, cost_usd: 0 });
      expect((await b.fetch('once', ['v0'], { include_values: true })).items[0].embedding).toEqual([9, 9, 9]);
      expect(await b.spentNanos()).toBe(spent + UPSERT_NANOS_MIN);
      const other = await b.call('POST', '/v1/vector/upsert', { ...body, vectors: [...vectors].reverse() }, {});
      if (count > 1) expect(other.body.error.code).toBe('IDEMPOTENCY_KEY_REUSED');
    },
  );

  test('the key may come as a header, long body or short; two different ones are refused before what is wrong with the body', async () => {
    const b = await shared.withAccount();
    await b.create('once', 1);
    for (const pad of [10, 200_000]) {
      const body = { collection: 'once', vectors: [{ id: 'a', embedding: [1] }], ignored: 'x'.repeat(pad) };
      const header = { 'idempotency-key': `h${pad}`, 'x-qm-unknown-fields': 'warn' };
      const first = await b.call('POST', '/v1/vector/upsert', body, header);
      expect(first.body.metadata.warnings).toEqual(['ignored: unknown field, ignored']);
      const again = await b.call('POST', '/v1/vector/upsert', body, header);
      expect(again.body.metadata.idempotent_replay).toBe(true);
      const wrong = { ...body, vectors: 7, idempotency_key: 'another' };
      const refused = await b.call('POST', '/v1/vector/upsert', wrong, header);
      expect(refused.body.error.code).toBe('INVALID_IDEMPOTENCY_KEY');
    }
  });
});

test('long bodies are refused as short ones are: depth, hostile keys, what is no JSON or no object', async () => {
  for (const pad of ['', ' '.repeat(200_000)]) {
    const refused = async (text: string) => (await bench.fails('POST', '/v1/vector/upsert', text + pad)).code;
    expect(
      await refused(`{"collection":"docs","vectors":[{"id":"a","embedding":${'['.repeat(40)}${']'.repeat(40)}}]}`),
    ).toBe('MALFORMED_JSON');
    expect(await refused('{"collection":"docs","__proto__":{"a":1},"vectors":[]}')).toBe('VALIDATION_FAILED');
    expect(await refused('[1]')).toBe('INVALID_REQUEST');
    expect(await refused('{"collection":')).toBe('MALFORMED_JSON');
  }
});
