// Collections that only their metadata makes larger than the budget: found out once, then answered from the database without
// pushing the others out.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Database } from '../../src/db/database.ts';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../src/modules/vector/engine/embedded/index.ts';
import type { Search } from '../../src/modules/vector/engine/port.ts';
import { changesAfter, type Page, readItems } from '../../src/modules/vector/engine/reader.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectAnswers, rowsFrom } from './engine-conformance.ts';
import { type NewRow, randomSource, TestCollection } from './engine-rows.ts';

const MIB = 2 ** 20;
const BUDGET_MIB = 16;
const search = (filter: Search['filter'] = null): Search => ({
  vector: new Float32Array([1, 0.5]),
  topK: 10,
  filter,
  exact: true,
});

let database: TestDatabase;
let db: Database;
let engine: EmbeddedEngine;
beforeAll(async () => {
  database = await createTestDatabase();
  db = new Database({ connection: database.connection });
  const log = { warn: () => undefined, error: () => undefined };
  engine = createEmbeddedEngine({ connection: database.connection, memoryMb: BUDGET_MIB, workers: 1, log });
});
afterAll(async () => {
  await engine.close();
  await db.end();
  await database.drop();
});

/** Rows of 64 texts of 230 characters each, in which no two are alike. */
function wordyRows(count: number, from: number): NewRow[] {
  const text = 'y'.repeat(220);
  return Array.from({ length: count }, (_, i) => ({
    id: `row-${from + i}`,
    vector: new Float32Array([1, (from + i) % 97]),
    metadata: Object.fromEntries(Array.from({ length: 64 }, (__, k) => [`k${k}`, `${text}${from + i} ${k}`])),
  }));
}

it('does not push others out again and again, and answers right', async () => {
  const small = await Promise.all(
    Array.from({ length: 30 }, async (_, i) => {
      const collection = await TestCollection.create(db, 2, 'cosine');
      await collection.upsert(rowsFrom(randomSource(i), 2, 20));
      return collection;
    }),
  );
  const large = await TestCollection.create(db, 2, 'cosine');
  for (let from = 0; from < 3000; from += 500) await large.upsert(wordyRows(500, from));
  const warm = async () => {
    for (const collection of small) await expectAnswers(engine, collection, [search()]);
  };
  await warm();
  await expectAnswers(engine, large, [search()]);
  await warm();
  const { evictions, loads } = engine.gauges();
  const filter: Search['filter'] = [{ key: 'k3', op: 'eq', value: `${'y'.repeat(220)}77 3` }];
  for (let i = 0; i < 3; i += 1) {
    await expectAnswers(engine, large, [search(), search(filter)]);
    await warm();
  }
  expect(engine.gauges()).toMatchObject({ evictions, loads, streamed: 4 });
  expect(engine.gauges().memory_bytes).toBeLessThan(BUDGET_MIB * MIB);
}, 120_000);

it('holds such a collection again once it has become small enough', async () => {
  const collection = await TestCollection.create(db, 2, 'cosine');
  for (let from = 0; from < 1500; from += 500) await collection.upsert(wordyRows(500, from));
  const { streamed = 0 } = engine.gauges();
  await expectAnswers(engine, collection, [search()]);
  expect(engine.gauges().streamed).toBe(streamed + 1);
  await collection.remove(Array.from({ length: 1300 }, (_, n) => `row-${n}`));
  await expectAnswers(engine, collection, [search()]);
  await expectAnswers(engine, collection, [search()]);
  expect(engine.gauges().streamed).toBe(streamed + 1);
  expect(engine.indexState(collection.ref).state).toBe('ready');
}, 120_000);

it('reads pages of a few MiB, whatever the rows weigh, and each row once', async () => {
  const collection = await TestCollection.create(db, 2, 'cosine');
  const plain = (count: number, from: number) =>
    Array.from({ length: count }, (_, i) => ({ id: `plain-${from + i}`, vector: new Float32Array([1, i]) }));
  await collection.upsert(plain(700, 0));
  // 600 KB each, written out
  const numbers = Array.from({ length: 2000 }, () => 1e308);
  await collection.upsert(
    Array.from({ length: 40 }, (_, i) => ({
      id: `row-${i}`,
      vector: new Float32Array([1, i]),
      metadata: { numbers },
    })),
  );
  await collection.upsert(plain(1500, 700));
  const ids: string[] = [];
  const rows: number[] = [];
  for (let start: Page['next'] = changesAfter(-1); start !== null; ) {
    const page: Page = await readItems(db, collection.ref, start, Number.MAX_SAFE_INTEGER);
    expect(page.items.filter(({ metadata }) => metadata !== null).length).toBeLessThanOrEqual(8);
    ids.push(...page.items.map(({ id }) => id));
    rows.push(page.items.length);
    start = page.next;
  }
  expect(ids.sort()).toEqual([...collection.rows.keys()].sort());
  expect(Math.max(...rows)).toBeGreaterThan(500);
});
