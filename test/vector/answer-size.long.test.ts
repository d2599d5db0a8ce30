// Answers have a bound: metadata that grows when it is written out, many matches and many queries together never make one that the
// service cannot hold.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { QUERY_NANOS, VectorBench } from './harness.ts';

const MIB = 2 ** 20;

let bench: VectorBench;
beforeAll(async () => {
  bench = await VectorBench.start();
});
afterAll(() => bench.service.stop());

/** 16 KB of plain text each. */
async function fillPlain(collection: string, count: number): Promise<void> {
  await bench.create(collection, 2);
  const metadata = { text: 'x'.repeat(16_000) };
  await bench.upsert(
    collection,
    Array.from({ length: count }, (_, n) => ({ id: `v${n}`, embedding: [1, n], metadata })),
  );
}

/** 16 KB as sent, of which jsonb makes 715 KB: each number has 309 digits. */
async function fillGrowing(collection: string, count: number): Promise<void> {
  await bench.create(collection, 2);
  const metadata = { numbers: Array.from({ length: 2_300 }, () => 1e308) };
  for (let from = 0; from < count; from += 50) {
    const ids = Array.from({ length: Math.min(50, count - from) }, (_, i) => `v${from + i}`);
    await bench.upsert(
      collection,
      ids.map((id, n) => ({ id, embedding: [1, n], metadata })),
    );
  }
}

describe('metadata that is large as it was sent', () => {
  beforeAll(() => fillPlain('plain', 1000));
  const query = { embedding: [1, 1], top_k: 1000 };

  test('16 queries for all of 1,000 are refused, charged nothing, and say what to do', async () => {
    const error = await bench.fails('POST', '/v1/vector/query', {
      collection: 'plain',
      queries: Array(16).fill(query),
    });
    expect(error).toMatchObject({ code: 'VALIDATION_FAILED', param: 'queries', code_detail: 'answer_too_large' });
    expect(error.message).toContain('top_k');
  });

  test('each occurrence counts: half as many matches fit twice', async () => {
    const some = { ...query, top_k: 600 };
    const error = await bench.fails('POST', '/v1/vector/query', { collection: 'plain', queries: [some, some] });
    expect(error).toMatchObject({ param: 'queries', code_detail: 'answer_too_large' });
    const spent = await bench.spentNanos();
    const { results } = await bench.ok('POST', '/v1/vector/query', { collection: 'plain', queries: [some] });
    expect(results[0].matches).toHaveLength(600);
    expect(results[0].items).toHaveLength(600);
    expect(await bench.spentNanos()).toBe(spent + QUERY_NANOS);
  });

  test('without metadata all of them are answered', async () => {
    const body = { collection: 'plain', queries: Array(16).fill(query), include_metadata: false };
    const { results } = await bench.ok('POST', '/v1/vector/query', body);
    for (const { matches } of results) expect(matches).toHaveLength(1000);
  });

  test('a fetch of all of them is within the bound', async () => {
    const { items } = await bench.fetch(
      'plain',
      Array.from({ length: 1000 }, (_, n) => `v${n}`),
    );
    expect(items).toHaveLength(1000);
  });
});

describe('metadata that grows when it is written out', () => {
  beforeAll(() => fillGrowing('growing', 120), 60_000);

  test('a query for more than fit is refused, for fewer answered', async () => {
    const body = { collection: 'growing', embedding: [1, 1], top_k: 100 };
    expect(await bench.fails('POST', '/v1/vector/query', body)).toMatchObject({
      code: 'VALIDATION_FAILED',
      param: 'top_k',
      code_detail: 'answer_too_large',
    });
    expect((await bench.query('growing', [1, 1], { top_k: 20 })).matches).toHaveLength(20);
  });

  test('so is a fetch', async () => {
    const ids = Array.from({ length: 120 }, (_, n) => `v${n}`);
    expect(await bench.fails('POST', '/v1/vector/fetch', { collection: 'growing', ids })).toMatchObject({
      code: 'VALIDATION_FAILED',
      param: 'ids',
      code_detail: 'answer_too_large',
    });
    expect((await bench.fetch('growing', ids.slice(0, 40))).items).toHaveLength(40);
  });

  test('pages of a list end early, and together hold every id once', async () => {
    const ids: string[] = [];
    for (let cursor = ''; ; ) {
      const reply = await bench.call('GET', `/v1/vector/list?collection=growing&limit=100${cursor}`);
      expect(reply.status).toBe(200);
      expect(reply.text.length).toBeLessThan(33 * MIB);
      const { items, has_more: hasMore, next_cursor: next } = reply.body.data;
      ids.push(...items.map(({ id }: { id: string }) => id));
      if (!hasMore) break;
      expect(items.length).toBeLessThan(100);
      cursor = `&cursor=${encodeURIComponent(next)}`;
    }
    expect(ids).toEqual(Array.from({ length: 120 }, (_, n) => `v${n}`).sort());
  });
});

test('numbers of metadata come back in their shortest form, wherever it is shown', async () => {
  await bench.create('numbers', 2);
  const numbers = [1e308, -1e-300, 5e-324, 1e21, 0.1, 1.5e-7, 2 ** 64, 0, 1e20];
  const metadata = { numbers, text: '1000000000000000000000000 0.0000001' };
  await bench.upsert('numbers', [{ id: 'a', embedding: [1, 1], metadata }]);
  const shortest = JSON.stringify(numbers);
  const texts = await Promise.all([
    bench.call('POST', '/v1/vector/fetch', { collection: 'numbers', ids: ['a'] }),
    bench.call('POST', '/v1/vector/query', { collection: 'numbers', embedding: [1, 1] }),
    bench.call('GET', '/v1/vector/list?collection=numbers'),
    bench.call('PATCH', '/v1/vector/update', { collection: 'numbers', id: 'a', metadata }),
  ]);
  for (const { status, text } of texts) {
    expect(status).toBe(200);
    expect(text.replaceAll(', ', ',')).toContain(shortest);
    expect(text).toContain('"1000000000000000000000000 0.0000001"');
  }
});
