// Collections: their settings, their lists, their end; and what reads and deletes vectors by id, prefix and filter.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createVectorState } from '../../src/modules/vector/state.ts';
import { vectorSweeps } from '../../src/modules/vector/sweeps.ts';
import { numbers, VectorBench } from './harness.ts';

let bench: VectorBench;
beforeAll(async () => {
  bench = await VectorBench.start({ isFresh: true });
});
afterAll(() => bench.service.stop());

const CREATE = '/v1/vector/collection/create';

/** Three vectors of one number, with metadata. */
async function filled(): Promise<VectorBench> {
  const b = await bench.withAccount();
  await b.create('docs', 1);
  const vector = (id: string, n: number) => ({ id, embedding: [n], metadata: { n } });
  await b.upsert('docs', [vector('a', 1), vector('b', 2), vector('c,d', 3)]);
  return b;
}

describe('create', () => {
  test('answers the record, again for the same settings, 409 for others; metadata as it was sent', async () => {
    const b = await bench.withAccount();
    const text =
      '{"collection":"c.1_-","dimension":4096,"metric":"euclidean","metadata":{"big":18446744073709551616,"a":"\\u00e9"}}';
    const reply = await b.call('POST', CREATE, text);
    expect(reply.body.data).toEqual({
      collection: 'c.1_-',
      dimension: 4096,
      metric: 'euclidean',
      metadata: { big: 2 ** 64, a: 'é' },
      vector_count: 0,
      state: 'ready',
      created_at: expect.any(String),
      updated_at: reply.body.data.created_at,
      raw_vendor_payload: { engine: 'embedded', bytes: 0, index_state: 'cold' },
    });
    expect(reply.text).toContain('{"big":18446744073709551616,"a":"\\u00e9"}');
    expect((await b.call('POST', CREATE, text)).body.data).toEqual(reply.body.data);
    for (const other of [{ dimension: 3 }, { metric: 'cosine' }, { metadata: null }]) {
      const error = await b.fails('POST', CREATE, { ...JSON.parse(text), ...other });
      expect([error.code, error.param]).toEqual(['ALREADY_EXISTS', 'collection']);
    }
  });

  test.each([
    [{ collection: '', dimension: 1 }, 'collection'],
    [{ collection: 'a b', dimension: 1 }, 'collection'],
    [{ collection: 'x'.repeat(129), dimension: 1 }, 'collection'],
    [{ collection: 'a', dimension: 0 }, 'dimension'],
    [{ collection: 'a', dimension: 4097 }, 'dimension'],
    [{ collection: 'a', dimension: 1.5 }, 'dimension'],
    [{ collection: 'a', dimension: 1, metric: 'manhattan' }, 'metric'],
    [{ collection: 'a', dimension: 1, metadata: { a: '\0' } }, 'metadata.a'],
    [{ collection: 'a', dimension: 1, metadata: 'text' }, 'metadata'],
  ])('refuses %j', async (body, param) => {
    expect(await bench.fails('POST', CREATE, body)).toMatchObject({ code: 'VALIDATION_FAILED', param });
  });

  test('an account has so many and no more', async () => {
    const b = await bench.withAccount();
    await b.service.core.db.query(
      {
        name: 'test_vector_fill',
        text: `INSERT INTO vector.collection SELECT $1, 'c' || i, 'vcol_' || i, 1, 'cosine', NULL, 0, 0, 0, now(), now() FROM generate_series(1, 999) i`,
      },
      [b.account.accountId],
    );
    await b.create('last', 1);
    expect((await b.fails('POST', CREATE, { collection: 'more', dimension: 1 })).code).toBe('QUOTA_EXCEEDED');
    await b.create('last', 1);
    const all = await b.ok('GET', '/v1/vector/collection/list');
    expect(all.collections).toHaveLength(1_000);
    expect(all).toMatchObject({ has_more: false, next_cursor: null, raw_vendor_payload: { engine: 'embedded' } });
    const first = await b.ok('GET', '/v1/vector/collection/list?limit=100');
    expect(first.has_more).toBe(true);
    const second = await b.ok('GET', `/v1/vector/collection/list?cursor=${first.next_cursor}`);
    expect(second.items).toEqual(all.items.slice(100, 120));
  });
});

describe('delete of a collection', () => {
  test('frees the name at once, counts the vectors, and the rows go in the background', async () => {
    const b = await filled();
    await b.remove('docs', ['a']);
    const gone = { collection: 'docs', deleted: 2, raw_vendor_payload: { engine: 'embedded' } };
    expect(await b.ok('DELETE', '/v1/vector/collection/delete', { collection: 'docs' })).toEqual(gone);
    expect(await b.ok('DELETE', '/v1/vector/collection/delete?collection=docs')).toEqual({ ...gone, deleted: 0 });
    expect((await b.fails('GET', '/v1/vector/collection/get?collection=docs')).code).toBe('COLLECTION_NOT_FOUND');
    await b.create('docs', 7);
    expect((await b.get('docs')).vector_count).toBe(0);
    for (const table of ['item', 'tombstone', 'doomed'])
      await expect
        .poll(() => b.number(`SELECT count(*)::int AS number FROM vector.${table} WHERE account_id = $account`), {
          timeout: 50_000,
        })
        .toBe(0);
  });

  test('a repeat with its key answers the same, also when the name is in use again', async () => {
    const b = await filled();
    const path = '/v1/vector/collection/delete?collection=docs&idempotency_key=k';
    const first = await b.ok('DELETE', path);
    await b.create('docs', 1);
    expect(await b.ok('DELETE', path)).toEqual(first);
    expect((await b.get('docs')).vector_count).toBe(0);
  });
});

describe('delete by id', () => {
  test.each([
    ['repeated', 'ids=a&ids=b&ids=none', undefined, 2],
    ['with commas', 'ids=a,b,b', undefined, 2],
    ['in the body', '', { ids: ['c,d'] }, 1],
    ['one', 'ids=a', undefined, 1],
  ])('ids %s', async (_, ids, body, deleted) => {
    const b = await filled();
    const data = await b.ok('DELETE', `/v1/vector/delete?collection=docs&${ids}`, body);
    const one = ids === 'ids=a' ? 'a' : body === undefined ? null : 'c,d';
    expect(data).toEqual({ collection: 'docs', deleted, ok: true, id: one });
    expect((await b.get('docs')).vector_count).toBe(3 - deleted);
    expect((await b.fetch('docs', ['a', 'b', 'c,d'])).items).toHaveLength(3 - deleted);
  });

  test('a missing collection is no error; no ids are, and too many', async () => {
    const b = await filled();
    expect((await b.remove('none', ['a'])).deleted).toBe(0);
    expect((await b.fails('DELETE', '/v1/vector/delete?collection=docs')).param).toBe('ids');
    expect((await b.fails('DELETE', '/v1/vector/delete', { collection: 'docs', ids: [] })).param).toBe('ids');
    const ids = Array.from({ length: 1_001 }, (_, i) => `${i}`);
    expect((await b.fails('DELETE', '/v1/vector/delete', { collection: 'docs', ids })).param).toBe('ids');
    expect(await b.spentNanos()).toBe(10_000n);
  });
});

describe('update', () => {
  const UPDATE = '/v1/vector/update';

  test('replaces metadata, keeps the embedding, costs one vector, and its repeat nothing', async () => {
    const b = await filled();
    const before = await b.spentNanos();
    const body = { collection: 'docs', id: 'a', metadata: { x: [1] }, idempotency_key: 'k' };
    for (let i = 0; i < 2; i += 1)
      expect(await b.ok('PATCH', UPDATE, body)).toEqual({
        collection: 'docs',
        ok: true,
        id: 'a',
        metadata: { x: [1] },
      });
    expect(await b.spentNanos()).toBe(before + 10_000n);
    expect((await b.fetch('docs', ['a'], { include_values: true })).items).toEqual([
      { id: 'a', metadata: { x: [1] }, embedding: [1] },
    ]);
    expect(await b.ok('PATCH', UPDATE, { collection: 'docs', id: 'a', metadata: null })).toMatchObject({
      metadata: null,
    });
    expect((await b.fetch('docs', ['a'])).items).toEqual([{ id: 'a', metadata: null }]);
    expect((await b.get('docs')).vector_count).toBe(3);
  });

  test('refuses what is not there and what is not metadata', async () => {
    const b = await filled();
    expect((await b.fails('PATCH', UPDATE, { collection: 'docs', id: 'z', metadata: {} })).code).toBe('NOT_FOUND');
    expect((await b.fails('PATCH', UPDATE, { collection: 'none', id: 'a', metadata: {} })).code).toBe(
      'COLLECTION_NOT_FOUND',
    );
    expect((await b.fails('PATCH', UPDATE, { collection: 'docs', id: 'a' })).param).toBe('metadata');
    expect((await b.fails('PATCH', UPDATE, { collection: 'docs', id: 'a', metadata: { k: ['\ud800'] } })).param).toBe(
      'metadata.k[0]',
    );
  });
});

describe('list', () => {
  test('walks ids by code points, from a prefix on, and sees no id twice while others come', async () => {
    const b = await bench.withAccount();
    await b.create('docs', 1);
    const ids = ['a', 'a#1', 'a#10', 'a#2', 'b', 'ä', '\uffff', '\u{10ffff}', '\u{10ffff}x', '\ud7ff1', '\ue000'];
    await b.upsert(
      'docs',
      ids.map((id) => ({ id, embedding: [1], metadata: { id } })),
    );
    const inOrder = ids.toSorted((x, y) => Buffer.compare(Buffer.from(x), Buffer.from(y)));
    const walk = async (prefix: string, limit: number) => {
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const parameters = new URLSearchParams({
          collection: 'docs',
          limit: `${limit}`,
          prefix,
          ...(cursor === '' ? {} : { cursor }),
        });
        const page: { items: { id: string; metadata: object }[]; next_cursor: string | null } = await b.ok(
          'GET',
          `/v1/vector/list?${parameters}`,
        );
        seen.push(...page.items.map(({ id }) => id));
        for (const { id, metadata } of page.items) expect(metadata).toEqual({ id });
        cursor = page.next_cursor;
      }
      return seen;
    };
    expect(await walk('', 4)).toEqual(inOrder);
    for (const prefix of ['a', 'a#', 'a#1', 'z', '\ud7ff', '\uffff', '\u{10ffff}'])
      expect(await walk(prefix, 2), prefix).toEqual(inOrder.filter((id) => id.startsWith(prefix)));
    const { next_cursor: cursor } = await b.ok('GET', '/v1/vector/list?collection=docs&limit=1');
    await b.create('other', 1);
    for (const path of [`collection=other&cursor=${cursor}`, `collection=docs&prefix=a&cursor=${cursor}`])
      expect((await b.fails('GET', `/v1/vector/list?${path}`)).code).toBe('INVALID_CURSOR');
  });
});

describe('fetch', () => {
  test('limits what one answer holds', async () => {
    const b = await bench.withAccount();
    await b.create('wide', 4_096);
    const ids = Array.from({ length: 65 }, (_, i) => `${i}`);
    expect((await b.fails('POST', '/v1/vector/fetch', { collection: 'wide', ids, include_values: true })).param).toBe(
      'include_values',
    );
    const embedding = numbers(4_096);
    await b.upsert('wide', [{ id: '7', embedding }]);
    expect((await b.fetch('wide', ids.slice(1), { include_values: true })).items).toEqual([
      { id: '7', metadata: null, embedding: embedding.map(Math.fround) },
    ]);
  });

  test('is a read: a key for reading may call it', async () => {
    const reader = await bench.withAccount(1, ['vector:read']);
    expect((await reader.fails('POST', '/v1/vector/fetch', { collection: 'docs', ids: ['a'] })).code).toBe(
      'COLLECTION_NOT_FOUND',
    );
  });
});

describe('delete by filter', () => {
  const DELETE = '/v1/vector/delete_by_filter';

  test('deletes exactly what passes, in parts, and its repeat answers the same', async () => {
    const b = await bench.withAccount();
    await b.create('docs', 1);
    for (let part = 0; part < 3; part += 1) {
      const at = (i: number) => part * 1_000 + i;
      const vectors = Array.from({ length: 1_000 }, (_, i) => ({
        id: `v${at(i)}`,
        embedding: [1],
        metadata: { n: at(i) },
      }));
      await b.upsert('docs', vectors);
    }
    const body = { collection: 'docs', filter: { n: { $gte: 500, $lt: 2_700 } }, idempotency_key: 'k' };
    expect(await b.ok('POST', DELETE, body)).toEqual({ collection: 'docs', deleted: 2_200, ok: true });
    expect((await b.get('docs')).vector_count).toBe(800);
    expect(await b.number('SELECT count(*)::int AS number FROM vector.item WHERE account_id = $account')).toBe(800);
    expect(await b.number('SELECT count(*)::int AS number FROM vector.tombstone WHERE account_id = $account')).toBe(
      2_200,
    );
    await b.upsert('docs', [{ id: 'new', embedding: [1], metadata: { n: 600 } }]);
    expect((await b.ok('POST', DELETE, body)).deleted).toBe(2_200);
    expect((await b.get('docs')).vector_count).toBe(801);
  });

  test('refuses an empty filter, a wrong one, a missing collection', async () => {
    const b = await filled();
    expect((await b.fails('POST', DELETE, { collection: 'docs', filter: {} })).param).toBe('filter');
    expect((await b.fails('POST', DELETE, { collection: 'docs' })).param).toBe('filter');
    expect((await b.fails('POST', DELETE, { collection: 'docs', filter: { $not: 1 } })).code).toBe(
      'UNSUPPORTED_FILTER',
    );
    expect((await b.fails('POST', DELETE, { collection: 'none', filter: { a: 1 } })).code).toBe('COLLECTION_NOT_FOUND');
  });
});

test('old tombstones are forgotten, and the collection says from when on', async () => {
  const b = await filled();
  await b.remove('docs', ['a', 'b']);
  const tombstones = 'SELECT count(*)::int AS number FROM vector.tombstone WHERE account_id = $account';
  expect(await b.number(tombstones)).toBe(2);
  await bench.service.advance(400);
  const state = await createVectorState(bench.service.core, { engine: 'embedded', memoryMb: 64 });
  const sweep = vectorSweeps(state).find(({ name }) => name === 'vector.tombstones');
  await sweep?.run(new AbortController().signal);
  await state.engine.close();
  expect(await b.number(tombstones)).toBe(0);
  expect(
    await b.number('SELECT forgotten_version::int AS number FROM vector.collection WHERE account_id = $account'),
  ).toBe(2);
  expect(await b.ids('docs', [1])).toEqual(['c,d']);
});
