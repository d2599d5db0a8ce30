// Pulls of two processes at the same moment, on the PostgreSQL of this run, which has no pgvector: a type of the same name and the
// same binary form stands in for it, since a pull computes nothing with vectors. What is shown is who waits for whom.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Database } from '../../src/db/database.ts';
import { pull } from '../../src/modules/vector/engine/pgvector/pull.ts';
import { prepareSchema } from '../../src/modules/vector/engine/pgvector/schema.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { rowsFrom } from './engine-conformance.ts';
import { randomSource, TestCollection } from './engine-rows.ts';

const never = new AbortController().signal;
let database: TestDatabase;
let processes: Database[];
let typeOid: number;

beforeAll(async () => {
  database = await createTestDatabase();
  processes = [1, 2].map(() => new Database({ connection: database.connection }));
  await db().query({ name: '', text: 'CREATE DOMAIN vector AS bytea' }, []);
  // Two that start at once.
  [typeOid = 0] = await Promise.all(processes.map(prepareSchema));
});
afterAll(async () => {
  await Promise.all(processes.map((one) => one.end()));
  await database.drop();
});
const db = () => processes[0] as Database;

/** Rows of the copy as text, and as they should be. */
async function rowsOf({ ref }: TestCollection, table: 'vector_index.embedding' | 'vector.item') {
  const text = `SELECT string_agg(id || ' ' || version || ' ' || coalesce(metadata::text, ''), E'\\n' ORDER BY id) AS rows FROM ${table}
                 WHERE account_id = $1 AND collection_id = $2`;
  const { rows } = await db().query<{ rows: string | null }>({ name: '', text }, [ref.accountId, ref.collectionId]);
  return rows[0]?.rows;
}

async function versionOf({ ref }: TestCollection): Promise<number> {
  const text = 'SELECT version FROM vector_index.progress WHERE account_id = $1 AND collection_id = $2';
  const { rows } = await db().query<{ version: bigint }>({ name: '', text }, [ref.accountId, ref.collectionId]);
  return Number(rows[0]?.version);
}

it('of two processes at most one pulls, and the copy is whole whatever is written meanwhile', async () => {
  const collection = await TestCollection.create(db(), 16, 'cosine');
  const random = randomSource(1);
  let writing = true;
  const write = async () => {
    for (let n = 0; n < 60; n += 1) {
      await collection.upsert(rowsFrom(random, 16, 40, n * 7));
      await collection.remove([`row-${n * 7}`, `row-${n * 7 + 3}`]);
      if (n % 20 === 19) await collection.forgetDeletions();
    }
    writing = false;
  };
  const outcomes = { pulled: 0, busy: 0 };
  const read = async (one: Database) => {
    while (writing) outcomes[(await pull(one, collection.ref, typeOid, never)) === null ? 'busy' : 'pulled'] += 1;
  };
  await Promise.all([write(), ...processes.flatMap((one) => [read(one), read(one)])]);
  expect(outcomes.pulled).toBeGreaterThan(0);
  expect(outcomes.busy).toBeGreaterThan(0);
  expect(await pull(db(), collection.ref, typeOid, never)).not.toBeNull();
  expect(await versionOf(collection)).toBe(collection.ref.version);
  expect(await rowsOf(collection, 'vector_index.embedding')).toBe(await rowsOf(collection, 'vector.item'));
});

it('does not wait for another process, whose pull holds until it ends', async () => {
  const collection = await TestCollection.create(db(), 16, 'cosine');
  await collection.upsert(rowsFrom(randomSource(2), 16, 10));
  await pull(db(), collection.ref, typeOid, never);
  await collection.upsert(rowsFrom(randomSource(3), 16, 10));
  await processes[1]?.transaction(async (tx) => {
    const text = 'SELECT version FROM vector_index.progress WHERE account_id = $1 AND collection_id = $2 FOR UPDATE';
    await tx.query({ name: '', text }, [collection.ref.accountId, collection.ref.collectionId]);
    expect(await pull(db(), collection.ref, typeOid, never)).toBeNull();
  });
  expect(await pull(db(), collection.ref, typeOid, never)).toEqual({ rows: 10 });
});

it('leaves the copy as it was when it is ended half-way', async () => {
  const collection = await TestCollection.create(db(), 16, 'cosine');
  await collection.upsert(rowsFrom(randomSource(2), 16, 10));
  await pull(db(), collection.ref, typeOid, never);
  const before = await rowsOf(collection, 'vector_index.embedding');
  await collection.upsert(rowsFrom(randomSource(3), 16, 20));
  await collection.remove(['row-1']);
  const reason = new Error('the engine closes');
  await expect(pull(db(), collection.ref, typeOid, AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(await rowsOf(collection, 'vector_index.embedding')).toBe(before);
  expect(await versionOf(collection)).toBe(1);
});
