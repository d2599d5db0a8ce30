// The embedded engine on a real database: conformance, and what only an engine with a memory of its own can get wrong.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../src/db/database.ts';
import { statement } from '../../src/db/statement.ts';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../src/modules/vector/engine/embedded/index.ts';
import type { Search } from '../../src/modules/vector/engine/port.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { describeEngine, expectAnswers, rowsFrom } from './engine-conformance.ts';
import { createManyCollections, randomSource, randomVector, TestCollection } from './engine-rows.ts';

const never = new AbortController().signal;
const log = { warn: () => undefined, error: () => undefined };

describeEngine('embedded', async () => {
  const database = await createTestDatabase();
  const db = new Database({ connection: database.connection });
  const engine = createEmbeddedEngine({ connection: database.connection, memoryMb: 256, workers: 2, log });
  return {
    engine,
    db,
    stop: async () => {
      await engine.close();
      await db.end();
      await database.drop();
    },
  };
});

describe('the memory of the embedded engine', () => {
  let database: TestDatabase;
  let db: Database;
  const engines: EmbeddedEngine[] = [];
  const start = (memoryMb: number, workers = 1): EmbeddedEngine => {
    const engine = createEmbeddedEngine({ connection: database.connection, memoryMb, workers, log });
    engines.push(engine);
    return engine;
  };
  const anyRow = (dimension: number, k = 10): Search => ({
    vector: new Float32Array(dimension).fill(1),
    topK: k,
    filter: null,
    exact: true,
  });

  beforeAll(async () => {
    database = await createTestDatabase();
    db = new Database({ connection: database.connection });
  });
  afterAll(async () => {
    await Promise.all(engines.map((engine) => engine.close()));
    await db.end();
    await database.drop();
  });

  async function collectionOf(count: number, dimension = 32): Promise<TestCollection> {
    const random = randomSource(count);
    const collection = await TestCollection.create(db, dimension, 'cosine');
    for (let from = 0; from < count; from += 1000)
      await collection.upsert(rowsFrom(random, dimension, Math.min(1000, count - from), from));
    return collection;
  }

  it('starts no thread before the first search', async () => {
    const engine = start(64, 2);
    expect(engine.threadIds()).toEqual([]);
    const collection = await collectionOf(5);
    expect(engine.indexState(collection.ref).state).toBe('cold');
    await expectAnswers(engine, collection, [anyRow(32)]);
    expect(engine.threadIds()).toHaveLength(1);
    expect(engine.indexState(collection.ref)).toMatchObject({ state: 'ready' });
    expect(engine.indexState(collection.ref).bytes).toBeGreaterThan(5 * 32 * 5);
    engine.forget('acc_1', collection.ref.collectionId);
    await expect.poll(() => engine.indexState(collection.ref).state).toBe('cold');
  });

  it('shows each of two engines what was written beside it', async () => {
    const [one, other] = [start(64), start(64)];
    const collection = await collectionOf(300);
    const random = randomSource(2);
    for (let round = 0; round < 5; round += 1) {
      await expectAnswers(one, collection, [anyRow(32)]);
      await collection.upsert(rowsFrom(random, 32, 40, round * 13));
      await collection.remove([`row-${round}`]);
      await expectAnswers(other, collection, [anyRow(32)]);
    }
    expect(one.gauges().loads).toBe(1);
    expect(other.gauges().loads).toBe(1);
  });

  it('loads once for many searches that wait, and answers for others meanwhile', async () => {
    const engine = start(256);
    const large = await collectionOf(20_000);
    const small = await collectionOf(3);
    await expectAnswers(engine, small, [anyRow(32)]);
    const order: string[] = [];
    const waiting = Array.from({ length: 8 }, () =>
      expectAnswers(engine, large, [anyRow(32)]).then(() => order.push('large')),
    );
    await expect.poll(() => engine.indexState(large.ref).state, { interval: 1, timeout: 50_000 }).toBe('loading');
    await expectAnswers(engine, small, [anyRow(32)]).then(() => order.push('small'));
    await Promise.all(waiting);
    expect(order[0]).toBe('small');
    expect(engine.gauges().loads).toBe(2);
  });

  it('answers whole states while rows are written: during loads and after them', async () => {
    const collection = await collectionOf(8000);
    const random = randomSource(77);
    let writing = true;
    // Every write replaces the same ten rows by one vector: a search that sees two of them, or fewer, has seen half of a state.
    const writeGroup = () => {
      const vector = randomVector(random, 32);
      const rows = Array.from({ length: 10 }, (_, i) => ({ id: `row-${i * 700}`, vector, metadata: { group: true } }));
      return collection.upsert(rows);
    };
    const write = async () => {
      for (let n = 0; writing; n += 1) {
        await writeGroup();
        await collection.upsert(rowsFrom(random, 32, 5, 8000 + n * 5));
        await collection.remove([`row-${8000 + n * 5}`]);
      }
    };
    await writeGroup();
    const writer = write();
    const group: Search = { ...anyRow(32, 20), filter: [{ key: 'group', op: 'eq', value: true }] };
    const engine = start(256);
    for (const loading of [start(256), start(256), start(256), engine, ...Array.from({ length: 40 }, () => engine)]) {
      const [grouped, all] = await loading.search(collection.ref, [group, anyRow(32)], never);
      expect(grouped?.matches).toHaveLength(10);
      expect(new Set(grouped?.matches.map(({ score }) => score)).size).toBe(1);
      expect(all?.rowsMatched).toBeGreaterThanOrEqual(8000);
    }
    writing = false;
    await writer;
    await expectAnswers(engine, collection, [anyRow(32, 1000), group]);
  });

  it('evicts what was used longest ago and stays within its budget', async () => {
    const engine = start(4);
    const collections = await Promise.all(Array.from({ length: 6 }, () => collectionOf(4000)));
    for (let round = 0; round < 2; round += 1)
      for (const collection of collections) {
        await expectAnswers(engine, collection, [anyRow(32)]);
        expect(engine.gauges().memory_bytes).toBeLessThanOrEqual(4 * 2 ** 20);
      }
    expect(engine.gauges().evictions).toBeGreaterThan(6);
    expect(engine.gauges().streamed).toBe(0);
  });

  it('lets one worker have the room that another holds idle', async () => {
    const engine = start(4, 2);
    // Which worker has a collection is drawn: of 8, all have the same once in 128 times.
    for (let i = 0; i < 8 || engine.threadIds().length < 2; i += 1) {
      expect(i).toBeLessThan(40);
      await expectAnswers(engine, await collectionOf(4000), [anyRow(32)]);
      expect(engine.gauges().memory_bytes).toBeLessThanOrEqual(4 * 2 ** 20);
    }
    expect(engine.gauges().streamed).toBe(0);
  });

  it('answers exactly for a collection that is larger than the budget', async () => {
    const engine = start(1);
    const collection = await collectionOf(12_000);
    const filtered: Search = { ...anyRow(32, 1000), filter: [{ key: 'twentieth', op: 'in', values: [1, 2] }] };
    await expectAnswers(engine, collection, [anyRow(32), filtered]);
    expect(engine.gauges()).toMatchObject({ streamed: 1, memory_bytes: 0 });
  });

  it('asks the rows themselves when what it keeps of long texts does not decide', async () => {
    const engine = start(16);
    const collection = await TestCollection.create(db, 2, 'cosine');
    const text = 'a long text '.repeat(40);
    const rows = ['', 'b', 'c'].map((end) => ({
      id: `row${end}`,
      vector: new Float32Array([1, 0]),
      metadata: { text: text + end },
    }));
    await collection.upsert(rows);
    const search: Search = { ...anyRow(2), filter: [{ key: 'text', op: 'gt', value: `${text}b` }] };
    await expectAnswers(engine, collection, [search]);
    expect(engine.gauges().streamed).toBe(1);
  });

  it('starts a worker that died anew, and loses nothing', async () => {
    const engine = start(64);
    const collection = await collectionOf(5000);
    await expectAnswers(engine, collection, [anyRow(32)]);
    await engine.killWorkers();
    expect(engine.indexState(collection.ref).state).toBe('cold');
    await expectAnswers(engine, collection, [anyRow(32)]);
    await engine.killWorkers();
    const asked = expectAnswers(engine, collection, [anyRow(32)]);
    await engine.killWorkers();
    await asked;
    expect(engine.gauges()).toMatchObject({ worker_restarts: 3 });
  });

  it('loads again what a worker died over', async () => {
    const engine = start(64);
    const collection = await collectionOf(8000);
    const asked = expectAnswers(engine, collection, [anyRow(32)]);
    await expect.poll(() => engine.indexState(collection.ref).state, { interval: 1, timeout: 50_000 }).toBe('loading');
    await engine.killWorkers();
    await asked;
    expect(engine.gauges()).toMatchObject({ loads: 1, worker_restarts: 1 });
  });

  it('gives up a search that is no longer wanted, and answers the next', async () => {
    const engine = start(64);
    const collection = await collectionOf(8000);
    const abort = new AbortController();
    const asked = engine.search(collection.ref, [anyRow(32)], abort.signal);
    const gone = new Error('the caller went away');
    setTimeout(() => abort.abort(gone), 5);
    await expect(asked).rejects.toBe(gone);
    await expectAnswers(engine, collection, [anyRow(32)]);
  });

  it('fails with the error of the database, and answers once that is well again', async () => {
    const engine = start(64);
    const collection = await collectionOf(10);
    const hide = statement('test_vector_hide', 'ALTER TABLE vector.item RENAME TO hidden');
    const show = statement('test_vector_show', 'ALTER TABLE vector.hidden RENAME TO item');
    await db.query(hide, []);
    await expect(engine.search(collection.ref, [anyRow(32)], never)).rejects.toMatchObject({ code: '42P01' });
    await db.query(show, []);
    await expectAnswers(engine, collection, [anyRow(32)]);
  });

  it('holds many small collections within its budget', async () => {
    const engine = start(10);
    const refs = await createManyCollections(db, { count: 4_000, rowsEach: 3, dimension: 64 });
    for (let from = 0; from < refs.length; from += 200) {
      const answers = await Promise.all(
        refs.slice(from, from + 200).map((ref) => engine.search(ref, [anyRow(64)], never)),
      );
      for (const [result] of answers) expect(result?.matches.map(({ id }) => id)).toEqual(['row-1', 'row-2', 'row-3']);
      expect(engine.gauges().memory_bytes).toBeLessThanOrEqual(10 * 2 ** 20);
    }
    expect(engine.gauges().collections_in_memory).toBeGreaterThan(400);
  }, 120_000);

  it('answers from lists once they are built, and exactly where that is asked for, while rows change', async () => {
    const engine = createEmbeddedEngine({
      connection: database.connection,
      memoryMb: 64,
      workers: 1,
      listsFromBytes: 1000,
      log,
    });
    engines.push(engine);
    const random = randomSource(31);
    const middles = Array.from({ length: 40 }, () => randomVector(random, 32));
    const near = (n: number) => (middles[n % 40] as Float32Array).map((value) => value + 0.2 * random());
    const collection = await TestCollection.create(db, 32, 'cosine');
    const write = (from: number) =>
      collection.upsert(Array.from({ length: 1000 }, (_, i) => ({ id: `row-${from + i}`, vector: near(from + i) })));
    for (let from = 0; from < 4000; from += 1000) await write(from);
    const search: Search = { vector: near(3), topK: 10, filter: null, exact: false };
    const planNow = async () => (await engine.search(collection.ref, [search], never))[0]?.plan;
    expect(await planNow()).toBe('exact');
    await expect.poll(planNow).toBe('ivf');
    await write(3500);
    await collection.remove(['row-3', 'row-43']);
    const newest = { id: 'newest', vector: search.vector };
    await collection.upsert([newest]);
    const [found] = await engine.search(collection.ref, [search], never);
    expect(found).toMatchObject({ plan: 'ivf', exact: false, rowsMatched: collection.rows.size });
    expect(found?.matches[0]?.id).toBe('newest');
    expect(found?.rowsScanned).toBeLessThan(collection.rows.size);
    await expectAnswers(engine, collection, [{ ...search, exact: true }]);
    await expect.poll(() => engine.gauges().recall_checks).toBeGreaterThan(0);
    expect(engine.gauges()).toMatchObject({ list_builds: 1, loads: 1 });
  });

  it('refuses a search once it is closed', async () => {
    const engine = start(16);
    const collection = await collectionOf(2);
    await expectAnswers(engine, collection, [anyRow(32)]);
    await engine.close();
    await expect(engine.search(collection.ref, [anyRow(32)], never)).rejects.toThrow('closed');
    expect(engine.threadIds()).toEqual([]);
  });
});
