// Any sequence of writes, searches, evictions and crashes, over several collections and two engines with hardly any memory:
// every answer is that of all rows in f64, at the version that was asked for.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Database } from '../../src/db/database.ts';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../src/modules/vector/engine/embedded/index.ts';
import type { Condition, Search } from '../../src/modules/vector/engine/port.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { rounds } from '../support/soak.ts';
import { expectAnswers, rowsFrom } from './engine-conformance.ts';
import { randomSource, randomVector, TestCollection } from './engine-rows.ts';

const DIMENSION = 24;
const COLLECTIONS = 4;
const RUNS = rounds(6);
const log = { warn: () => undefined, error: () => undefined };
let database: TestDatabase;
let db: Database;
let engines: [EmbeddedEngine, EmbeddedEngine];

beforeAll(async () => {
  database = await createTestDatabase();
  db = new Database({ connection: database.connection });
  const options = { connection: database.connection, memoryMb: 1, log };
  engines = [createEmbeddedEngine({ ...options, workers: 2 }), createEmbeddedEngine({ ...options, workers: 1 })];
});
afterAll(async () => {
  await Promise.all(engines.map((engine) => engine.close()));
  await db.end();
  await database.drop();
});

const which = fc.nat({ max: COLLECTIONS - 1 });
const from = fc.nat({ max: 1500 });
const filter = fc.option(
  fc.constantFrom<Condition[]>(
    [{ key: 'half', op: 'eq', value: 0 }],
    [{ key: 'twentieth', op: 'in', values: [3, 4] }],
    [{ key: 'tags', op: 'ne', value: 'x' }],
    [{ key: 'n', op: 'gte', value: 900 }],
    [
      { key: 'sign', op: 'eq', value: true },
      { key: 'tags', op: 'eq', value: 'tag-2' },
    ],
  ),
);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('upsert' as const),
      which,
      from,
      count: fc.integer({ min: 1, max: 400 }),
      told: fc.subarray([0, 1] as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('remove' as const), which, from, count: fc.integer({ min: 1, max: 60 }) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('search' as const),
      which,
      engine: fc.nat({ max: 1 }),
      topK: fc.constantFrom(1, 10, 1000),
      filter,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget deletions' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const), engine: fc.nat({ max: 1 }) }) },
);

it('holds after any sequence of writes, evictions, forgotten deletions and crashes', async () => {
  const random = randomSource(1);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60 }), async (steps) => {
      const metrics = ['cosine', 'euclidean', 'dotproduct', 'cosine'] as const;
      const collections = await Promise.all(metrics.map((metric) => TestCollection.create(db, DIMENSION, metric)));
      for (const one of steps) {
        if (one.kind === 'crash') {
          await engines[one.engine as 0 | 1].killWorkers();
          continue;
        }
        const collection = collections[one.which] as TestCollection;
        if (one.kind === 'upsert') {
          const change = await collection.upsert(rowsFrom(random, DIMENSION, one.count, one.from));
          for (const engine of one.told) engines[engine].noteChange({ ...change, floats: change.floats.slice() });
        } else if (one.kind === 'remove')
          await collection.remove(Array.from({ length: one.count }, (_, i) => `row-${one.from + i}`));
        else if (one.kind === 'forget deletions') await collection.forgetDeletions();
        else {
          const search: Search = {
            vector: randomVector(random, DIMENSION),
            topK: one.topK,
            filter: one.filter,
            exact: true,
          };
          await expectAnswers(engines[one.engine as 0 | 1], collection, [search]);
        }
      }
    }),
    { numRuns: RUNS },
  );
  // Collections that each fit and together do not, whatever was drawn above.
  for (let i = 0; i < 3 * COLLECTIONS; i += 1) {
    const one = await TestCollection.create(db, DIMENSION, 'cosine');
    await one.upsert(rowsFrom(random, DIMENSION, 500, 0));
    const search: Search = { vector: randomVector(random, DIMENSION), topK: 10, filter: null, exact: true };
    for (const engine of engines) await expectAnswers(engine, one, [search]);
    // What is in memory follows.
    const change = await one.upsert(rowsFrom(random, DIMENSION, 5, 500));
    for (const engine of engines) engine.noteChange({ ...change, floats: change.floats.slice() });
    for (const engine of engines) await expectAnswers(engine, one, [search]);
  }
  for (const engine of engines) expect(engine.gauges().memory_bytes).toBeLessThanOrEqual(2 ** 20);
  const total = (figure: string) => engines.reduce((sum, engine) => sum + (engine.gauges()[figure] ?? 0), 0);
  expect(total('evictions')).toBeGreaterThan(0);
  expect(total('changes_followed')).toBeGreaterThan(0);
}, 120_000);
