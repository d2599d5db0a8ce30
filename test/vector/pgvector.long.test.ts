// The pgvector engine on a real pgvector: conformance, and what only an engine with a copy in the database can get wrong.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { hasPgvector, type PgvectorEngine } from '../../src/modules/vector/engine/pgvector/index.ts';
import { metrics, type Search } from '../../src/modules/vector/engine/port.ts';
import { describeEngine, expectAnswers, rowsFrom } from './engine-conformance.ts';
import { type NewRow, randomSource, randomVector, TestCollection } from './engine-rows.ts';
import { PgvectorDatabase } from './pgvector-database.ts';

const nearest = (vector: Float32Array, topK = 10): Search => ({ vector, topK, filter: null, exact: true });

describeEngine('pgvector', async () => {
  const database = await PgvectorDatabase.start();
  return { engine: database.engine(), db: database.db, stop: () => database.stop() };
});

test('pgvector is there once its extension is', async () => {
  const database = await PgvectorDatabase.start({ extension: false });
  const engine = database.engine();
  const collection = await TestCollection.create(database.db, 2, 'cosine');
  const search = nearest(new Float32Array([1, 2]));
  expect(await hasPgvector(database.db)).toBe(false);
  await expect(expectAnswers(engine, collection, [search])).rejects.toThrow('no extension "vector"');
  await database.query('CREATE EXTENSION vector');
  expect(await hasPgvector(database.db)).toBe(true);
  await expectAnswers(engine, collection, [search]);
  await database.query('CREATE SCHEMA elsewhere');
  await database.query('ALTER EXTENSION vector SET SCHEMA elsewhere');
  expect(await hasPgvector(database.db)).toBe(false);
  await database.stop();
});

describe('the copy that pgvector searches', () => {
  let database: PgvectorDatabase;
  let engine: PgvectorEngine;
  beforeAll(async () => {
    database = await PgvectorDatabase.start();
    engine = database.engine();
  });
  afterAll(() => database.stop());

  const copied = ({ ref }: TestCollection) =>
    database.number(
      `SELECT (SELECT count(*) FROM vector_index.embedding WHERE collection_id = '${ref.collectionId}')
            + (SELECT count(*) FROM vector_index.progress WHERE collection_id = '${ref.collectionId}')`,
    );
  const collectionOf = async (count: number, dimension = 8): Promise<TestCollection> => {
    const collection = await TestCollection.create(database.db, dimension, 'cosine');
    await collection.upsert(rowsFrom(randomSource(count), dimension, count));
    return collection;
  };

  it.each(metrics)('ranks by %s what arithmetic in f32 cannot tell apart', async (metric) => {
    const dimension = 300;
    const random = randomSource(3);
    const base = randomVector(random, dimension);
    const rows: NewRow[] = Array.from({ length: 400 }, (_, i) => {
      const vector = base.slice();
      const at = i % dimension;
      vector[at] = (vector[at] as number) * (1 + (i % 7) * 2 ** -22);
      return { id: `row-${i}`, vector };
    });
    const collection = await TestCollection.create(database.db, dimension, metric);
    await collection.upsert(rows);
    await expectAnswers(engine, collection, [
      nearest(base),
      nearest(base, 100),
      nearest(randomVector(random, dimension)),
    ]);
    const [result] = await engine.search(collection.ref, [nearest(base, 50)], new AbortController().signal);
    const scores = result?.matches.map(({ score }) => score) ?? [];
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
  });

  it.each(metrics)('ranks by %s what arithmetic in f32 cannot hold', async (metric) => {
    const random = randomSource(4);
    const scales = [1e-37, 1e-22, 1e-16, 1e-3, 1, 1e10, 1e19, 1e30, 1e37];
    const collection = await TestCollection.create(database.db, 5, metric);
    await collection.upsert(
      Array.from({ length: 180 }, (_, i) => ({
        id: `row-${i}`,
        vector: randomVector(random, 5).map((value) => value * (scales[i % scales.length] as number)),
      })),
    );
    const queries = scales.map((scale) => nearest(randomVector(random, 5).map((value) => value * scale)));
    await expectAnswers(engine, collection, queries);
  });

  it('takes vectors of zeros where the metric does', async () => {
    const zero = new Float32Array(3);
    for (const metric of ['euclidean', 'dotproduct'] as const) {
      const collection = await TestCollection.create(database.db, 3, metric);
      await collection.upsert([{ id: 'zero', vector: zero }, ...rowsFrom(randomSource(9), 3, 30)]);
      await expectAnswers(engine, collection, [nearest(zero), nearest(new Float32Array([1, 2, 3]), 31)]);
    }
  });

  it('finds all and only what is there after any sequence of changes', async () => {
    const id = fc.integer({ min: 0, max: 25 }).map((n) => `row-${n}`);
    const change = fc.oneof(
      fc.record({ upsert: fc.uniqueArray(id, { minLength: 1, maxLength: 8 }), seed: fc.nat() }),
      fc.record({ remove: fc.uniqueArray(id, { minLength: 1, maxLength: 5 }) }),
      fc.constant('forget' as const),
      fc.constant('search' as const),
    );
    const run = async (changes: readonly (typeof change extends fc.Arbitrary<infer C> ? C : never)[]) => {
      const collection = await TestCollection.create(database.db, 4, 'euclidean');
      for (const one of [...changes, 'search' as const]) {
        if (one === 'forget') await collection.forgetDeletions();
        else if (one === 'search') await expectAnswers(engine, collection, [nearest(new Float32Array(4), 30)]);
        else if ('remove' in one) await collection.remove(one.remove);
        else {
          const random = randomSource(one.seed);
          await collection.upsert(one.upsert.map((row) => ({ id: row, vector: randomVector(random, 4) })));
        }
      }
    };
    await fc.assert(fc.asyncProperty(fc.array(change, { maxLength: 12 }), run), { numRuns: 25 });
  });

  it('passes what equals, whatever the key and the value', async () => {
    const values = ['', 'a', '1', 1, 0, 1.5, 1e300, 2 ** 53, true, false, null, '\u{1f600}', '"', '{}'];
    const keys = ['a', '__proto__', 'ключ', '', '"'];
    const stored = [...values, ...values.map((value) => [value, 'x']), { a: 1 }, [[1]], []];
    const rows = keys.flatMap((key, k) =>
      stored.map((value, i) => ({
        id: `row-${k}-${i}`,
        vector: new Float32Array([1, k, i]),
        metadata: Object.fromEntries([[key, value]]),
      })),
    );
    const collection = await TestCollection.create(database.db, 3, 'dotproduct');
    await collection.upsert([...rows, { id: 'bare', vector: new Float32Array(3) }]);
    const query = nearest(new Float32Array([1, 2, 3]), 20);
    const searches = keys.flatMap((key) =>
      values.map((value): Search => ({ ...query, filter: [{ key, op: 'eq', value }] })),
    );
    await expectAnswers(engine, collection, searches);
    const two: Search['filter'] = [
      { key: 'a', op: 'ne', value: 'a' },
      { key: 'a', op: 'eq', value: 'x' },
      { key: 'a', op: 'eq', value: 1 },
    ];
    await expectAnswers(engine, collection, [{ ...query, filter: two }]);
  });

  it('is pulled once for all processes, and later only what changed', async () => {
    const other = database.engine();
    const collection = await collectionOf(200);
    const search = nearest(randomVector(randomSource(1), 8));
    const before = engine.gauges().pulled_rows as number;
    await expectAnswers(engine, collection, [search]);
    await expectAnswers(other, collection, [search]);
    await collection.upsert(rowsFrom(randomSource(2), 8, 3));
    await expectAnswers(other, collection, [search]);
    await expectAnswers(engine, collection, [search]);
    expect(engine.gauges().pulled_rows).toBe(before + 200);
    expect(other.gauges()).toMatchObject({ pulls: 1, pulled_rows: 3 });
    expect(engine.indexState(collection.ref)).toEqual({ state: 'ready', bytes: 0 });
  });

  it('waits for one pull however many ask', async () => {
    const collection = await collectionOf(300);
    const pulls = engine.gauges().pulls as number;
    const search = nearest(randomVector(randomSource(1), 8));
    await Promise.all(Array.from({ length: 6 }, () => expectAnswers(engine, collection, [search])));
    expect(engine.gauges().pulls).toBe(pulls + 1);
  });

  it('goes with its collection', async () => {
    const collection = await collectionOf(1500);
    await expectAnswers(engine, collection, [nearest(randomVector(randomSource(1), 8))]);
    expect(await copied(collection)).toBe(1501);
    await collection.drop();
    engine.forget(collection.ref.accountId, collection.ref.collectionId);
    await expect.poll(() => copied(collection)).toBe(0);
    expect(engine.indexState(collection.ref).state).toBe('cold');
  });

  it('goes with a collection whose deletion nobody was told', async () => {
    const [deleted, kept] = [await collectionOf(20), await collectionOf(30)];
    const search = nearest(randomVector(randomSource(1), 8));
    await expectAnswers(engine, deleted, [search]);
    await expectAnswers(engine, kept, [search]);
    await deleted.drop();
    expect(await engine.removeOrphans(new AbortController().signal)).toBe(false);
    expect([await copied(deleted), await copied(kept)]).toEqual([0, 31]);
  });

  it('is made anew when its schema was dropped', async () => {
    const collection = await collectionOf(40);
    const search = nearest(randomVector(randomSource(1), 8));
    await expectAnswers(engine, collection, [search]);
    await database.query('DROP SCHEMA vector_index CASCADE');
    await expectAnswers(database.engine(), collection, [search]);
    expect(await copied(collection)).toBe(41);
  });

  it('is searched no more once the engine is closed', async () => {
    const closed = database.engine();
    const collection = await collectionOf(2);
    await closed.close();
    const searching = closed.search(
      collection.ref,
      [nearest(new Float32Array(8).fill(1))],
      new AbortController().signal,
    );
    await expect(searching).rejects.toThrow('closed');
  });
});
