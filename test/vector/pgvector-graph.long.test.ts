// Large collections on pgvector: the graph is made beside the calls, answers what need not be exact, and never with too few.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PgvectorEngine } from '../../src/modules/vector/engine/pgvector/index.ts';
import type { Condition, Search } from '../../src/modules/vector/engine/port.ts';
import { expectAnswers } from './engine-conformance.ts';
import { referenceMatches } from './engine-reference.ts';
import { randomSource, randomVector, TestCollection } from './engine-rows.ts';
import { PgvectorDatabase } from './pgvector-database.ts';

const DIMENSION = 24;
const ROWS = 4_000;
const never = new AbortController().signal;
let database: PgvectorDatabase;
let engine: PgvectorEngine;
let collection: TestCollection;
const random = randomSource(17);

// What is far from every query that `towards` makes: the 5 % with the least first number.
const far: Condition[] = [{ key: 'far', op: 'eq', value: true }];
const against: Condition[] = [{ key: 'positive', op: 'eq', value: false }];
const towards = () => {
  const vector = randomVector(random, DIMENSION);
  vector[0] = 4;
  return vector;
};
const search = (vector: Float32Array, filter: Condition[] | null, exact = false): Search => ({
  vector,
  topK: 10,
  filter,
  exact,
});

/** Of the ids that must be found, the share that was. */
async function recallOf(of: PgvectorEngine, filter: Condition[] | null): Promise<{ recall: number; plans: string[] }> {
  const plans = new Set<string>();
  let found = 0;
  for (let i = 0; i < 20; i += 1) {
    const one = search(towards(), filter);
    const [result] = await of.search(collection.ref, [one], never);
    const wanted = new Set(
      referenceMatches(collection.rows.values(), 'cosine', one)
        .slice(0, 10)
        .map(({ id }) => id),
    );
    expect(result?.matches).toHaveLength(10);
    found += result?.matches.filter(({ id }) => wanted.has(id)).length ?? 0;
    plans.add(result?.plan ?? 'none');
  }
  return { recall: found / 200, plans: [...plans] };
}

beforeAll(async () => {
  database = await PgvectorDatabase.start();
  engine = database.engine({ graphFromRows: 1_000, exactRowsMax: 500 });
  collection = await TestCollection.create(database.db, DIMENSION, 'cosine');
  for (let from = 0; from < ROWS; from += 1_000)
    await collection.upsert(
      Array.from({ length: 1_000 }, (_, i) => {
        const vector = randomVector(random, DIMENSION);
        const first = vector[0] as number;
        return { id: `row-${from + i}`, vector, metadata: { far: first < -0.9, positive: first > 0, n: from + i } };
      }),
    );
  await expectAnswers(engine, collection, [search(towards(), null, true)]);
  expect(await engine.tendGraphs(never)).toBe(true);
});
afterAll(() => database.stop());

const graphs = () => database.number(`SELECT count(*) FROM pg_class WHERE relname LIKE 'graph\\_%' AND relkind = 'i'`);

it('makes one graph for a collection that is large, and none for one that is small', async () => {
  const small = await TestCollection.create(database.db, DIMENSION, 'cosine');
  await small.upsert([{ id: 'one', vector: towards() }]);
  await expectAnswers(engine, small, [search(towards(), null)]);
  expect(await engine.tendGraphs(never)).toBe(false);
  expect(await graphs()).toBe(1);
});

it('answers from the graph with few misses and exact scores', async () => {
  const { recall, plans } = await recallOf(engine, null);
  expect(plans).toEqual(['ivf']);
  expect(recall).toBeGreaterThan(0.95);
  await database.query('SELECT pg_stat_force_next_flush()');
  const used = `SELECT sum(idx_scan) FROM pg_stat_user_indexes WHERE indexrelname LIKE 'graph\\_%'`;
  expect(await database.number(used)).toBeGreaterThan(0);
  await expectAnswers(engine, collection, [search(towards(), null, true)]);
});

it('finds all under a filter against the query, where the graph alone comes back short', async () => {
  const alone = await database.query<{ id: string }>(
    `SELECT id FROM vector_index.embedding
      WHERE account_id = '${collection.ref.accountId}' AND collection_id = '${collection.ref.collectionId}'
        AND metadata @> '{"far": true}'
      ORDER BY embedding::vector(${DIMENSION}) <=> '[${[...towards()].join()}]' LIMIT 10`,
  );
  expect(alone.length).toBeLessThan(10);
  expect(await recallOf(engine, far)).toEqual({ recall: 1, plans: ['exact'] });
  const scanning = await recallOf(database.engine({ exactRowsMax: 10 }), far);
  expect(scanning.plans).toContain('ivf');
  expect(scanning.recall).toBeGreaterThan(0.95);
  expect((await recallOf(engine, against)).recall).toBeGreaterThan(0.95);
});

it('searches exactly when too few of the rows that a scan may see pass', async () => {
  const short = database.engine({ exactRowsMax: 10, seenMax: 150 });
  expect(await recallOf(short, against)).toEqual({ recall: 1, plans: ['exact'] });
  expect(short.gauges()).toMatchObject({ short_graph_searches: 20, exact_searches: 20 });
});

it('does not begin a scan that is likely to see too many rows', async () => {
  const choosing = database.engine({ exactRowsMax: 10, seenMax: 500 });
  expect(await recallOf(choosing, far)).toEqual({ recall: 1, plans: ['exact'] });
  expect(choosing.gauges()).toMatchObject({ short_graph_searches: 0 });
});

it('sees what is written after the graph was made', async () => {
  const vector = towards();
  await collection.upsert([{ id: 'newest', vector, metadata: { far: false } }]);
  const [result] = await engine.search(collection.ref, [search(vector, null)], never);
  expect(result).toMatchObject({ plan: 'ivf', rowsMatched: ROWS + 1 });
  expect(result?.matches[0]?.id).toBe('newest');
  await collection.remove(['newest']);
  const [after] = await engine.search(collection.ref, [search(vector, null)], never);
  expect(after?.matches.map(({ id }) => id)).not.toContain('newest');
});

it('leaves the graph for good once a vector is beyond f32 arithmetic', async () => {
  const vector = towards().map((value) => value * 1e30);
  await collection.upsert([{ id: 'wide', vector }]);
  await expectAnswers(engine, collection, [search(vector, null)]);
  expect(await engine.tendGraphs(never)).toBe(true);
  expect(await graphs()).toBe(0);
  expect(await engine.tendGraphs(never)).toBe(false);
});

it('makes a graph that is not whole anew, and drops that of a collection that is gone', async () => {
  const other = database.engine({ graphFromRows: 10 });
  const brief = await TestCollection.create(database.db, 3, 'dotproduct');
  await brief.upsert(Array.from({ length: 20 }, (_, i) => ({ id: `row-${i}`, vector: new Float32Array([1, i, 3]) })));
  await expectAnswers(other, brief, [{ ...search(new Float32Array([1, 2, 3]), null), exact: true }]);
  expect(await other.tendGraphs(never)).toBe(true);
  expect(await graphs()).toBe(1);
  const built = `SELECT oid FROM pg_class WHERE relname LIKE 'graph\\_%'`;
  const first = await database.number(built);
  await database.query(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = ${first}`);
  expect(await other.tendGraphs(never)).toBe(true);
  expect(await other.tendGraphs(never)).toBe(true);
  expect(await database.number(built)).not.toBe(first);
  await brief.drop();
  await other.removeOrphans(never);
  expect(await other.tendGraphs(never)).toBe(true);
  expect(await graphs()).toBe(0);
});
