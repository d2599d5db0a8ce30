// The embedded engine whose every exact search is shared by two threads.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Database } from '../../src/db/database.ts';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../src/modules/vector/engine/embedded/index.ts';
import type { Search } from '../../src/modules/vector/engine/port.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { describeEngine, expectAnswers, rowsFrom } from './engine-conformance.ts';
import { randomSource, TestCollection } from './engine-rows.ts';

const log = { warn: () => undefined, error: () => undefined };
const started = ({ connection }: TestDatabase): EmbeddedEngine =>
  createEmbeddedEngine({ connection, memoryMb: 256, workers: 1, sharedFromBytes: 0, log });
const sharedBy = (engine: EmbeddedEngine) => engine.gauges().shared_scans as number;

describeEngine('embedded, with two threads a search', async () => {
  const database = await createTestDatabase();
  const db = new Database({ connection: database.connection });
  const engine = started(database);
  return {
    engine,
    db,
    stop: async () => {
      expect(sharedBy(engine)).toBeGreaterThan(10);
      await engine.close();
      await db.end();
      await database.drop();
    },
  };
});

let database: TestDatabase;
let db: Database;
let engine: EmbeddedEngine;
beforeAll(async () => {
  database = await createTestDatabase();
  db = new Database({ connection: database.connection });
  engine = started(database);
});
afterAll(async () => {
  await engine.close();
  await db.end();
  await database.drop();
});

it('starts a worker that died anew, with the second thread that it had', async () => {
  const collection = await TestCollection.create(db, 32, 'cosine');
  await collection.upsert(rowsFrom(randomSource(1), 32, 1000, 0));
  const search: Search = { vector: new Float32Array(32).fill(1), topK: 10, filter: null, exact: true };
  const shared = async (times: number) => {
    for (let tries = 0; sharedBy(engine) < times; tries += 1) {
      expect(tries).toBeLessThan(1000);
      await expectAnswers(engine, collection, [search]);
    }
  };
  await shared(3);
  await engine.killWorkers();
  await shared(6);
  expect(engine.gauges()).toMatchObject({ worker_restarts: 1 });
});
