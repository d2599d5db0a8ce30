// What a commit of the own process changed is handed over to the embedded engine: followed when it is all that is missing, else read.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database } from '../../src/db/database.ts';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../src/modules/vector/engine/embedded/index.ts';
import type { Search } from '../../src/modules/vector/engine/port.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectAnswers, rowsFrom } from './engine-conformance.ts';
import { randomSource, TestCollection } from './engine-rows.ts';

const DIMENSION = 32;
const all: Search = { vector: new Float32Array(DIMENSION).fill(1), topK: 400, filter: null, exact: true };
const log = { warn: () => undefined, error: () => undefined };
let database: TestDatabase;
let db: Database;
let engine: EmbeddedEngine;

beforeAll(async () => {
  database = await createTestDatabase();
  db = new Database({ connection: database.connection });
  engine = createEmbeddedEngine({ connection: database.connection, memoryMb: 64, workers: 1, log });
});
afterAll(async () => {
  await engine.close();
  await db.end();
  await database.drop();
});

test('does not read what a commit hands over, and reads what it cannot follow', async () => {
  const random = randomSource(3);
  const collection = await TestCollection.create(db, DIMENSION, 'cosine');
  await collection.upsert(rowsFrom(random, DIMENSION, 300, 0));
  const write = (from: number) => collection.upsert(rowsFrom(random, DIMENSION, 20, from));
  const told = (figure: string) => engine.gauges()[figure];
  await expectAnswers(engine, collection, [all]);
  for (const from of [290, 0, 310]) {
    engine.noteChange(await write(from));
    await expectAnswers(engine, collection, [all]);
  }
  expect([told('changes_followed'), told('changes_skipped'), told('deltas')]).toEqual([3, 0, 0]);
  const bytes = engine.indexState(collection.ref).bytes;
  // One is never told of, one comes twice, one is followed by a deletion.
  await write(320);
  const late = await write(330);
  engine.noteChange({ ...late, floats: late.floats.slice() });
  await expectAnswers(engine, collection, [all]);
  engine.noteChange(late);
  const before = await write(5);
  await collection.remove(['row-5', 'row-6']);
  engine.noteChange(before);
  await expectAnswers(engine, collection, [all]);
  expect([told('changes_followed'), told('changes_skipped'), told('deltas')]).toEqual([4, 2, 2]);
  expect(engine.indexState(collection.ref).bytes).toBeGreaterThan(bytes);
});
