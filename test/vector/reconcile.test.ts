// An answer that rows changed behind, brought to one state: exactly the best of that state, or nothing when that is not certain.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../src/db/database.ts';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../src/modules/vector/engine/embedded/index.ts';
import { type Metric, metrics, type Search } from '../../src/modules/vector/engine/port.ts';
import { readSnapshot } from '../../src/modules/vector/engine/reader.ts';
import { reconcile } from '../../src/modules/vector/querying/search.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { rowsFrom } from './engine-conformance.ts';
import { referenceMatches } from './engine-reference.ts';
import { randomSource, randomVector, TestCollection } from './engine-rows.ts';

const DIMENSION = 8;
const never = new AbortController().signal;
const random = randomSource(9);

let database: TestDatabase;
let db: Database;
let engine: EmbeddedEngine;
beforeAll(async () => {
  database = await createTestDatabase();
  db = new Database({ connection: database.connection });
  const log = { warn: () => undefined, error: () => undefined };
  engine = createEmbeddedEngine({ connection: database.connection, memoryMb: 64, workers: 1, log });
});
afterAll(async () => {
  await engine.close();
  await db.end();
  await database.drop();
});

async function collectionOf(metric: Metric, count: number): Promise<TestCollection> {
  const collection = await TestCollection.create(db, DIMENSION, metric);
  await collection.upsert(rowsFrom(random, DIMENSION, count));
  return collection;
}

/** Searches, lets `change` happen, reconciles; answers ids and scores. */
async function reconciled(collection: TestCollection, search: Search, spare: number, change: () => Promise<unknown>) {
  const { ref } = collection;
  const found = await engine.search(ref, [{ ...search, topK: search.topK + spare }], never);
  await change();
  const results = await readSnapshot(db, (tx) => reconcile(tx, ref, [search], found));
  return results?.[0]?.matches;
}

const wanted = (collection: TestCollection, search: Search) =>
  referenceMatches(collection.rows.values(), collection.metric, search)
    .slice(0, search.topK)
    .map(({ id, version }) => ({ id, score: expect.any(Number), version }));
const filter: Search['filter'] = [{ key: 'half', op: 'eq', value: 1 }];

describe.each(metrics)('%s', (metric) => {
  it.each([
    ['all rows', null],
    ['rows under a filter', filter],
  ])('of %s: overwritten, deleted and new ones are as the state has them', async (_, only) => {
    const collection = await collectionOf(metric, 300);
    for (const topK of [1, 10, 100, 1000]) {
      const search: Search = { vector: randomVector(random, DIMENSION), topK, filter: only, exact: true };
      const matches = await reconciled(collection, search, 100, async () => {
        await collection.upsert(rowsFrom(random, DIMENSION, 20, topK % 97));
        await collection.upsert(rowsFrom(random, DIMENSION, 15, 300 + topK));
        // what was the best and the next best
        await collection.remove(
          wanted(collection, search)
            .slice(0, 5)
            .map(({ id }) => id),
        );
      });
      expect(matches).toEqual(wanted(collection, search));
    }
  });
});

it('is nothing when more of what was found changed than was found beyond top_k', async () => {
  const collection = await collectionOf('cosine', 300);
  const search: Search = { vector: randomVector(random, DIMENSION), topK: 10, filter: null, exact: true };
  const deleteBest = (count: number) => () =>
    collection.remove(wanted(collection, { ...search, topK: count }).map(({ id }) => id));
  expect(await reconciled(collection, search, 4, deleteBest(5))).toBeUndefined();
  expect(await reconciled(collection, search, 5, deleteBest(5))).toEqual(wanted(collection, search));
});

it('is nothing when the last that was found became worse, and another may be better now', async () => {
  const collection = await collectionOf('euclidean', 300);
  const search: Search = { vector: randomVector(random, DIMENSION), topK: 10, filter: null, exact: true };
  const last = wanted(collection, search)[9]?.id as string;
  const worsen = () => collection.upsert([{ id: last, vector: search.vector.map((value) => value + 100) }]);
  expect(await reconciled(collection, search, 0, worsen)).toBeUndefined();
});
