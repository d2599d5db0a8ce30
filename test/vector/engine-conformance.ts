// What every engine must do. Each engine's own test file runs these on a database and an engine of its own.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import {
  CollectionGone,
  type Condition,
  metrics,
  type Search,
  type VectorEngine,
} from '../../src/modules/vector/engine/port.ts';
import { expectExact } from './engine-reference.ts';
import { type NewRow, randomSource, randomVector, TestCollection } from './engine-rows.ts';

export interface EngineUnderTest {
  readonly engine: VectorEngine;
  readonly db: Database;
  stop(): Promise<void>;
}

const never = new AbortController().signal;
const topK = (vector: Float32Array, k = 10, filter: Search['filter'] = null): Search => ({
  vector,
  topK: k,
  filter,
  exact: true,
});

/** Every search of one call, each against all rows in f64. */
export async function expectAnswers(
  engine: VectorEngine,
  collection: TestCollection,
  searches: readonly Search[],
): Promise<void> {
  const results = await engine.search(collection.ref, searches, never);
  expect(results.length).toBe(searches.length);
  for (const [i, search] of searches.entries()) {
    const result = results[i];
    if (result === undefined) throw new Error('a search without a result');
    expectExact(result, collection.rows.values(), collection.metric, search);
    expect(result.exact).toBe(true);
  }
}

export function rowsFrom(random: () => number, dimension: number, count: number, from = 0): NewRow[] {
  return Array.from({ length: count }, (_, i) => {
    const vector = randomVector(random, dimension);
    const n = from + i;
    const tags = n % 3 === 0 ? ['x', n % 5] : `tag-${n % 7}`;
    const sign = (vector[0] as number) > 0;
    return {
      id: `row-${n}`,
      vector,
      metadata: { n, half: n % 2, twentieth: n % 20, thousandth: n % 1000, tags, sign },
    };
  });
}

/** @param setup a database of this release's schema and an engine on it; called once */
export function describeEngine(name: string, setup: () => Promise<EngineUnderTest>): void {
  describe(`the ${name} engine`, () => {
    let under: EngineUnderTest;
    beforeAll(async () => {
      under = await setup();
    });
    afterAll(() => under.stop());
    describeAnswers(() => under);
    describeFilters(() => under);
    describeChanges(() => under);
  });
}

const shares: [string, Condition[]][] = [
  ['that half of the rows pass', [{ key: 'half', op: 'eq', value: 1 }]],
  ['that 5 % pass', [{ key: 'twentieth', op: 'eq', value: 3 }]],
  ['that 0.1 % pass', [{ key: 'thousandth', op: 'eq', value: 7 }]],
  ['that is against the query', [{ key: 'sign', op: 'eq', value: false }]],
];

function describeAnswers(under: () => EngineUnderTest): void {
  describe.each(metrics)('by %s', (metric) => {
    it.each([1, 2, 3, 7, 128, 768, 1536, 4096])(
      'answers exactly, and never with too few, in dimension %i',
      async (dimension) => {
        const { engine, db } = under();
        const random = randomSource(dimension);
        const collection = await TestCollection.create(db, dimension, metric);
        // Of the long ones all thousand by one metric.
        const count = metric === 'cosine' || dimension < 768 ? 1_000 : 400;
        await collection.upsert(rowsFrom(random, dimension, count));
        const query = randomVector(random, dimension);
        // What is near it seldom passes the filter that is against it.
        query[0] = 3;
        const filtered = shares.flatMap(([, filter]) => [topK(query, 10, filter), topK(query, 1_000, filter)]);
        await expectAnswers(engine, collection, [topK(query), topK(query, 1), topK(query, 1_000), ...filtered]);
      },
    );

    it('orders equal scores by id', async () => {
      const { engine, db } = under();
      const collection = await TestCollection.create(db, 3, metric);
      const vector = new Float32Array([1, 2, 3]);
      const ids = ['b', 'a', 'ä', 'Z', 'a1', '\u{1f600}', '\uffee', 'ab'];
      await collection.upsert(ids.map((id) => ({ id, vector })));
      const [result] = await engine.search(collection.ref, [topK(vector, 5)], never);
      expect(result?.matches.map(({ id }) => id)).toEqual([...ids].sort().slice(0, 5));
    });
  });
}

function describeFilters(under: () => EngineUnderTest): void {
  const filters: [string, Condition[]][] = [
    ...shares,
    [
      'of two conditions',
      [
        { key: 'half', op: 'ne', value: 0 },
        { key: 'n', op: 'lt', value: 700 },
      ],
    ],
    ['of an element of an array', [{ key: 'tags', op: 'eq', value: 'x' }]],
    ['of several values and types', [{ key: 'tags', op: 'in', values: ['tag-1', 3, null, true] }]],
    ['of the order of texts', [{ key: 'tags', op: 'gte', value: 'tag-4' }]],
    ['of a key that no row has', [{ key: 'other', op: 'ne', value: 1 }]],
    ['of a key that is there', [{ key: 'tags', op: 'exists', value: true }]],
    ['of a key that is not there', [{ key: 'n', op: 'exists', value: false }]],
    ['of another type than the values', [{ key: 'half', op: 'eq', value: '1' }]],
    ['without conditions', []],
  ];
  it.each(filters)('answers exactly, and never with too few, under a filter %s', async (_, filter) => {
    const { engine, db } = under();
    const random = randomSource(11);
    const collection = await TestCollection.create(db, 16, 'cosine');
    await collection.upsert(rowsFrom(random, 16, 2100));
    const query = randomVector(random, 16);
    query[0] = 3;
    const plain = topK(query, 10, filter);
    await expectAnswers(engine, collection, [plain, { ...plain, topK: 1000 }, topK(query)]);
  });
}

function describeChanges(under: () => EngineUnderTest): void {
  it('sees every change up to the version that is asked for', async () => {
    const { engine, db } = under();
    const random = randomSource(5);
    const collection = await TestCollection.create(db, 8, 'euclidean');
    const query = randomVector(random, 8);
    const check = () =>
      expectAnswers(engine, collection, [topK(query), topK(query, 5, [{ key: 'half', op: 'eq', value: 1 }])]);
    await check();
    await collection.upsert(rowsFrom(random, 8, 300));
    await check();
    await collection.upsert(rowsFrom(random, 8, 50, 100));
    await check();
    await collection.remove(['row-1', 'row-120', 'row-299', 'never there']);
    await check();
    await collection.upsert(rowsFrom(random, 8, 1, 120));
    await collection.remove(['row-120']);
    await collection.upsert(rowsFrom(random, 8, 3, 120));
    await check();
  });

  it('reads everything anew when deletions are told no more', async () => {
    const { engine, db } = under();
    const random = randomSource(6);
    const collection = await TestCollection.create(db, 8, 'cosine');
    await collection.upsert(rowsFrom(random, 8, 200));
    const search = topK(randomVector(random, 8), 1000);
    await expectAnswers(engine, collection, [search]);
    await collection.remove(Array.from({ length: 50 }, (_, i) => `row-${i}`));
    await collection.forgetDeletions();
    await expectAnswers(engine, collection, [search]);
  });

  it('throws CollectionGone for one that is deleted, and keeps nothing of it', async () => {
    const { engine, db } = under();
    const collection = await TestCollection.create(db, 2, 'cosine');
    await collection.upsert(rowsFrom(randomSource(1), 2, 3));
    await collection.drop();
    const search = topK(new Float32Array([1, 0]));
    await expect(engine.search(collection.ref, [search], never)).rejects.toBeInstanceOf(CollectionGone);
    expect(engine.indexState(collection.ref)).toEqual({ state: 'cold', bytes: 0 });
  });

  it('ends a search with the reason of its signal', async () => {
    const { engine, db } = under();
    const collection = await TestCollection.create(db, 2, 'cosine');
    const reason = new Error('the caller went away');
    const search = topK(new Float32Array([1, 0]));
    await expect(engine.search(collection.ref, [search], AbortSignal.abort(reason))).rejects.toBe(reason);
  });
}
