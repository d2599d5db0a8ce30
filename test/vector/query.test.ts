// Queries: what is found, what they answer, what they cost, and that every answered write is seen.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptedUnits } from '../../src/core/wallet/ledger/accepted-units.ts';
import { base64, numbers, QUERY_NANOS, VectorBench } from './harness.ts';

let shared: VectorBench;
let other: VectorBench;
let bench: VectorBench;
beforeAll(async () => {
  shared = await VectorBench.start();
  other = await VectorBench.start({ database: shared.service.database, account: shared.account });
  bench = await shared.withAccount();
  for (const metric of ['cosine', 'euclidean', 'dotproduct']) {
    await bench.create(metric, 2, { metric });
    await bench.upsert(metric, [
      { id: 'east', embedding: [3, 0], metadata: { lang: 'de', year: 2024, tags: ['a', 'b'] } },
      { id: 'north', embedding: [0, 2], metadata: { lang: 'en', year: 2026, tags: [] } },
      { id: 'west', embedding: [-1, 0] },
    ]);
  }
});
afterAll(async () => {
  await other.service.stop();
  await shared.service.stop();
});

describe('scores', () => {
  test('cosine: the direction alone counts', async () => {
    const { matches } = await bench.query('cosine', [1, 1]);
    expect(matches.map(({ id }: { id: string }) => id)).toEqual(['east', 'north', 'west']);
    for (const [i, score] of [Math.SQRT1_2, Math.SQRT1_2, -Math.SQRT1_2].entries())
      expect(matches[i].score).toBeCloseTo(score, 9);
  });

  test('euclidean: the negative distance, and the distance', async () => {
    const { matches } = await bench.query('euclidean', [0, 0], { include_metadata: false });
    expect(matches).toEqual([
      { id: 'west', score: -1, distance: 1 },
      { id: 'north', score: -2, distance: 2 },
      { id: 'east', score: -3, distance: 3 },
    ]);
  });

  test('dot product; equal scores by id', async () => {
    const { matches } = await bench.query('dotproduct', base64([0, 0.5]), { include_metadata: false });
    expect(matches).toEqual([
      { id: 'north', score: 1 },
      { id: 'east', score: 0 },
      { id: 'west', score: 0 },
    ]);
  });
});

describe('answers', () => {
  test('matches and items are the same; metadata and values as asked for; how it was searched', async () => {
    const data = await bench.query('cosine', [1, 0], { top_k: 2, include_values: true });
    expect(data).toEqual({
      collection: 'cosine',
      matches: [
        { id: 'east', score: 1, metadata: { lang: 'de', year: 2024, tags: ['a', 'b'] }, embedding: [3, 0] },
        { id: 'north', score: 0, metadata: { lang: 'en', year: 2026, tags: [] }, embedding: [0, 2] },
      ],
      items: data.matches,
      next_cursor: null,
      has_more: false,
      raw_vendor_payload: {
        engine: 'embedded',
        plan: 'exact',
        rows_matched: 3,
        rows_scanned: expect.any(Number),
        exact: true,
      },
    });
    expect((await bench.query('cosine', [-1, 0], { top_k: 1 })).matches).toEqual([
      { id: 'west', score: 1, metadata: null },
    ]);
  });

  test('several queries in one call, each with its own filter and top_k', async () => {
    const queries = [
      { embedding: [1, 0], top_k: 1 },
      { embedding: base64([0, 1]), filter: { lang: 'de' } },
      { embedding: [0, 1], filter: { lang: 'fr' } },
    ];
    const { results } = await bench.ok('POST', '/v1/vector/query', { collection: 'cosine', queries });
    const ids = results.map(({ matches }: { matches: { id: string }[] }) => matches.map(({ id }) => id));
    expect(ids).toEqual([['east'], ['east'], []]);
    expect(results[2].raw_vendor_payload.rows_matched).toBe(0);
  });

  test.each<[object, string[]]>([
    [{ lang: 'de' }, ['east']],
    [{ lang: 'de', year: 2026 }, []],
    [{ tags: 'b' }, ['east']],
    [{ lang: { $ne: 'de' } }, ['north', 'west']],
    [{ lang: { $in: ['de', 'en'] }, year: { $gte: 2025 } }, ['north']],
    [{ year: { $gt: 2024, $lt: 2027 } }, ['north']],
    [{ lang: { $exists: false } }, ['west']],
    [{ year: '2024' }, []],
    [{ lang: { $gt: 'de' } }, ['north']],
    [
      [
        { field: 'lang', operator: 'in', value: ['de', 'en'] },
        { field: 'year', operator: 'gte', value: 2025 },
      ],
      ['north'],
    ],
    [
      [
        { field: 'year', operator: 'gt', value: 2024 },
        { field: 'year', operator: 'lt', value: 2027 },
      ],
      ['north'],
    ],
    [[{ field: 'tags', operator: 'equals', value: 'b' }], ['east']],
    [[{ field: 'lang', operator: 'not_equals', value: 'de' }], ['north', 'west']],
    [[{ field: 'lang', operator: 'is_not_set' }], ['west']],
  ])('filter %j', async (filter, ids) => {
    expect((await bench.ids('cosine', [1, 1], { filter })).sort()).toEqual(ids);
  });
});

describe('refusals cost nothing', () => {
  test.each<[object, string, string]>([
    [{ collection: 'none', embedding: [1, 0] }, 'COLLECTION_NOT_FOUND', 'collection'],
    [{ collection: 'cosine', embedding: [1] }, 'DIMENSION_MISMATCH', 'embedding'],
    [
      { collection: 'cosine', queries: [{ embedding: [1, 0] }, { embedding: [1] }] },
      'DIMENSION_MISMATCH',
      'queries[1].embedding',
    ],
    [{ collection: 'cosine', embedding: [0, 0] }, 'VALIDATION_FAILED', 'embedding'],
    [{ collection: 'cosine' }, 'VALIDATION_FAILED', 'embedding'],
    [{ collection: 'cosine', queries: [{}] }, 'VALIDATION_FAILED', 'queries[0].embedding'],
    [{ collection: 'cosine', embedding: [1, 0], queries: [{ embedding: [1, 0] }] }, 'INVALID_REQUEST', 'embedding'],
    [{ collection: 'cosine', embedding: [1, 0], top_k: 0 }, 'VALIDATION_FAILED', 'top_k'],
    [{ collection: 'cosine', embedding: [1, 0], top_k: 1001 }, 'VALIDATION_FAILED', 'top_k'],
    [
      { collection: 'cosine', embedding: [1, 0], filter: { a: { $regex: 'x' } } },
      'UNSUPPORTED_FILTER',
      'filter.a.$regex',
    ],
    [{ collection: 'cosine', embedding: [1, 0], filter: { $or: [] } }, 'UNSUPPORTED_FILTER', 'filter.$or'],
    [
      { collection: 'cosine', queries: [{ embedding: [1, 0], filter: [{ field: 'a', operator: 'like', value: 1 }] }] },
      'VALIDATION_FAILED',
      'queries[0].filter[0].operator',
    ],
    [{ collection: 'cosine', embedding: [1, 0], filter: { a: [1] } }, 'UNSUPPORTED_FILTER', 'filter.a'],
    [{ collection: 'cosine', embedding: [1, 0], filter: { a: { $gt: true } } }, 'VALIDATION_FAILED', 'filter.a.$gt'],
    [
      { collection: 'cosine', embedding: [1, 0], filter: Object.fromEntries(numbers(17).map((n, i) => [`k${i}`, n])) },
      'VALIDATION_FAILED',
      'filter',
    ],
    [
      { collection: 'cosine', queries: [{ embedding: [1, 0], filter: { a: {} } }] },
      'UNSUPPORTED_FILTER',
      'queries[0].filter.a',
    ],
  ])('%j', async (body, code, param) => {
    const error = await bench.fails('POST', '/v1/vector/query', body);
    expect([error.code, error.param]).toEqual([code, param]);
  });

  test('more numbers than one answer holds', async () => {
    await bench.create('wide', 4_096);
    const body = { collection: 'wide', embedding: numbers(4_096), top_k: 33, include_values: true };
    expect((await bench.fails('POST', '/v1/vector/query', body)).param).toBe('include_values');
    expect((await bench.query('wide', numbers(4_096), { top_k: 32, include_values: true })).matches).toEqual([]);
  });
});

describe('charges', () => {
  test.each([
    ['with plenty', 100],
    ['with little', 0.001],
  ])('a query costs its price, several in a call each, %s', async (_, usd) => {
    const b = await shared.withAccount(usd);
    await b.create('docs', 1);
    const one = await b.call('POST', '/v1/vector/query', { collection: 'docs', embedding: [1] });
    expect(one.body.metadata).toMatchObject({
      cost_usd: 0.00001,
      balance_usd: usd - 0.00001,
      idempotent_replay: false,
    });
    const queries = Array.from({ length: 16 }, () => ({ embedding: [1] }));
    const many = await b.call('POST', '/v1/vector/query', { collection: 'docs', queries });
    expect(many.body.metadata.cost_usd).toBe(0.00016);
    expect(await b.spentNanos()).toBe(17n * QUERY_NANOS);
    expect(await acceptedUnits(b.service.core.db, b.account.accountId)).toEqual(new Map([['vector.query', 17n]]));
    expect(await b.number(`SELECT held_nanos::int AS number FROM core.wallet WHERE account_id = $account`)).toBe(0);
  });

  test('of 30 queries at once that the wallet covers ten of, ten are answered', async () => {
    const b = await shared.withAccount(0.0001);
    await b.create('docs', 1);
    const replies = await Promise.all(
      Array.from({ length: 30 }, () => b.call('POST', '/v1/vector/query', { collection: 'docs', embedding: [1] })),
    );
    const codes = replies.map(({ body }) => (body.ok ? 'ok' : body.error.code)).sort();
    expect(codes).toEqual([...Array(20).fill('INSUFFICIENT_CREDIT'), ...Array(10).fill('ok')]);
    expect(await b.spentNanos()).toBe(10n * QUERY_NANOS);
  });

  test('over the budget, and with a key for reading alone', async () => {
    const b = await shared.withAccount(100);
    await b.create('docs', 1);
    await b.ok('PUT', '/v1/account/budget/set', { period: 'daily', hard_cap_usd: 0.00002 });
    await b.query('docs', [1]);
    await b.query('docs', [1]);
    const error = await b.fails('POST', '/v1/vector/query', { collection: 'docs', embedding: [1] });
    expect([error.code, error.code_detail]).toEqual(['INSUFFICIENT_CREDIT', 'budget_daily']);
    const reader = await shared.withAccount(100, ['vector:read']);
    expect((await reader.fails('POST', '/v1/vector/query', { collection: 'docs', embedding: [1] })).code).toBe(
      'COLLECTION_NOT_FOUND',
    );
    expect(
      (await reader.fails('POST', '/v1/vector/upsert', { collection: 'docs', vectors: [{ id: 'a', embedding: [1] }] }))
        .code,
    ).toBe('INSUFFICIENT_SCOPE');
  });

  test('a query takes no idempotency key and says so', async () => {
    const { body } = await bench.call('POST', '/v1/vector/query', {
      collection: 'cosine',
      embedding: [1, 0],
      idempotency_key: 'k',
    });
    expect(body.metadata.warnings).toEqual(['idempotency_key: ignored, vector.query does not take an idempotency key']);
  });
});

test('every query on either process sees what was answered before it began', async () => {
  const there = bench.on(other);
  await bench.create('seen', 3);
  for (let i = 1; i <= 40; i += 1) {
    const [writer, reader] = i % 2 === 0 ? [bench, there] : [there, bench];
    await writer.upsert('seen', [{ id: `v${i}`, embedding: [i, 1, 0], metadata: { i } }]);
    const found = await reader.query('seen', [i, 1, 0], { filter: { i }, top_k: 3 });
    expect(found.matches.map(({ id, metadata }: { id: string; metadata: object }) => [id, metadata])).toEqual([
      [`v${i}`, { i }],
    ]);
    if (i % 4 === 0) {
      await writer.ok('PATCH', '/v1/vector/update', { collection: 'seen', id: `v${i}`, metadata: { j: i } });
      expect(await reader.ids('seen', [i, 1, 0], { filter: { j: i } })).toEqual([`v${i}`]);
      expect(await reader.ids('seen', [i, 1, 0], { filter: { i } })).toEqual([]);
    }
    if (i % 5 === 0) {
      await writer.remove('seen', [`v${i}`]);
      expect(await reader.ids('seen', [i, 1, 0], { filter: { j: i }, top_k: 3 })).toEqual([]);
      expect(await reader.ids('seen', [i, 1, 0], { top_k: 1000 })).not.toContain(`v${i}`);
    }
  }
});

test('a collection that is deleted and made anew has nothing of the old one, on either process', async () => {
  const there = bench.on(other);
  for (let i = 0; i < 5; i += 1) {
    await bench.create('anew', i + 1);
    await bench.upsert('anew', [{ id: `old${i}`, embedding: numbers(i + 1, 3) }]);
    expect(await there.ids('anew', numbers(i + 1, 3))).toEqual([`old${i}`]);
    await there.ok('DELETE', '/v1/vector/collection/delete?collection=anew');
    expect((await bench.fails('POST', '/v1/vector/query', { collection: 'anew', embedding: [1] })).code).toBe(
      'COLLECTION_NOT_FOUND',
    );
  }
});

test('while vectors are overwritten, a match never pairs the score of one state with the metadata of another', async () => {
  await bench.create('moving', 2, { metric: 'dotproduct' });
  const vector = (n: number) => ({ id: 'v', embedding: [n, 1], metadata: { n } });
  await bench.upsert('moving', [vector(1)]);
  let running = true;
  const writing = (async () => {
    for (let n = 2; running; n += 1) await bench.upsert('moving', [vector(n)]);
  })();
  for (let i = 0; i < 60; i += 1) {
    const { matches } = await bench.on(i % 2 === 0 ? other : shared).query('moving', [1, 0]);
    for (const { score, metadata } of matches) expect(score).toBe(metadata.n);
  }
  running = false;
  await writing;
});
