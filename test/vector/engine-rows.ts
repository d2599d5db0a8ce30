// Collections written to the tables as the service writes them, and the same rows kept here to compare answers with.
import { randomBytes } from 'node:crypto';
import { byteaArray, textArray } from '../../src/db/arrays.ts';
import type { Database } from '../../src/db/database.ts';
import { statement } from '../../src/db/statement.ts';
import type { Change, CollectionRef, Metric } from '../../src/modules/vector/engine/port.ts';
import type { ReferenceRow } from './engine-reference.ts';

const insertCollection = statement(
  'test_vector_insert_collection',
  `INSERT INTO vector.collection VALUES ($1, $2, $2, $3, $4, NULL, 0, 0, 0, now(), now())`,
);
const deleteCollection = statement(
  'test_vector_delete_collection',
  'DELETE FROM vector.collection WHERE account_id = $1 AND collection_id = $2',
);
const nextVersion = statement(
  'test_vector_next_version',
  `UPDATE vector.collection SET version = version + 1 WHERE account_id = $1 AND collection_id = $2 RETURNING version`,
);
const upsertItems = statement(
  'test_vector_upsert_items',
  `INSERT INTO vector.item SELECT $1, $2, u.id, $3, u.embedding, u.metadata::jsonb
   FROM unnest($4::text[], $5::bytea[], $6::text[]) u(id, embedding, metadata)
   ON CONFLICT (account_id, collection_id, id)
   DO UPDATE SET version = excluded.version, embedding = excluded.embedding, metadata = excluded.metadata`,
);
const deleteItems = statement(
  'test_vector_delete_items',
  'DELETE FROM vector.item WHERE account_id = $1 AND collection_id = $2 AND id = ANY($3)',
);
const insertTombstones = statement(
  'test_vector_insert_tombstones',
  'INSERT INTO vector.tombstone SELECT $1, $2, $3, u.id, now() FROM unnest($4::text[]) u(id)',
);
const countItems = statement(
  'test_vector_count_items',
  `UPDATE vector.collection SET vector_count =
     (SELECT count(*) FROM vector.item WHERE account_id = $1 AND collection_id = $2)
   WHERE account_id = $1 AND collection_id = $2`,
);
const forgetTombstones = statement(
  'test_vector_forget_tombstones',
  'UPDATE vector.collection SET forgotten_version = version WHERE account_id = $1 AND collection_id = $2',
);
const deleteTombstones = statement(
  'test_vector_delete_tombstones',
  'DELETE FROM vector.tombstone WHERE account_id = $1 AND collection_id = $2',
);

export interface NewRow {
  readonly id: string;
  readonly vector: Float32Array;
  readonly metadata?: unknown;
}

export class TestCollection {
  readonly rows = new Map<string, ReferenceRow>();
  readonly metric: Metric;
  readonly dimension: number;
  readonly #db: Database;
  readonly #keys: [string, string];
  #version = 0;

  private constructor(db: Database, accountId: string, dimension: number, metric: Metric) {
    this.#db = db;
    this.#keys = [accountId, randomBytes(8).toString('hex')];
    this.dimension = dimension;
    this.metric = metric;
  }

  static async create(db: Database, dimension: number, metric: Metric, accountId = 'acc_1'): Promise<TestCollection> {
    const collection = new TestCollection(db, accountId, dimension, metric);
    await db.query(insertCollection, [...collection.#keys, dimension, metric]);
    return collection;
  }

  /** As a call that begins now would read it. */
  get ref(): CollectionRef {
    const [accountId, collectionId] = this.#keys;
    return { accountId, collectionId, dimension: this.dimension, metric: this.metric, version: this.#version };
  }

  /** Answers the change as an engine may be told of it. */
  async upsert(rows: readonly NewRow[]): Promise<Change> {
    const version = await this.#db.transaction(async (tx) => {
      const taken = (await tx.query<{ version: bigint }>(nextVersion, this.#keys)).rows[0]?.version as bigint;
      const embeddings = rows.map(({ vector }) => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength));
      const metadata = rows.map((row) => (row.metadata === undefined ? null : JSON.stringify(row.metadata)));
      const ids = textArray(rows.map(({ id }) => id));
      await tx.query(upsertItems, [...this.#keys, taken, ids, byteaArray(embeddings), textArray(metadata)]);
      await tx.query(countItems, this.#keys);
      return Number(taken);
    });
    for (const { id, vector, metadata = null } of rows) this.rows.set(id, { id, vector, metadata, version });
    this.#version = version;
    const floats = Float32Array.from(rows.flatMap(({ vector }) => [...vector]));
    return {
      ref: this.ref,
      ids: rows.map(({ id }) => id),
      floats: new Uint8Array(floats.buffer),
      metadata: rows.map((row) => (row.metadata === undefined ? null : JSON.stringify(row.metadata))),
    };
  }

  async remove(ids: readonly string[]): Promise<void> {
    const version = await this.#db.transaction(async (tx) => {
      const taken = (await tx.query<{ version: bigint }>(nextVersion, this.#keys)).rows[0]?.version as bigint;
      await tx.query(deleteItems, [...this.#keys, textArray(ids)]);
      await tx.query(insertTombstones, [...this.#keys, taken, textArray(ids)]);
      await tx.query(countItems, this.#keys);
      return Number(taken);
    });
    for (const id of ids) this.rows.delete(id);
    this.#version = version;
  }

  /** Deletions so far are told no more. */
  async forgetDeletions(): Promise<void> {
    await this.#db.transaction(async (tx) => {
      await tx.query(forgetTombstones, this.#keys);
      await tx.query(deleteTombstones, this.#keys);
    });
  }

  async drop(): Promise<void> {
    await this.#db.query(deleteCollection, this.#keys);
  }
}

/** Versions of many collections at once, written by one statement: `count` collections of `rowsEach` rows of one vector each. */
export async function createManyCollections(
  db: Database,
  { count, rowsEach, dimension }: { count: number; rowsEach: number; dimension: number },
): Promise<CollectionRef[]> {
  const ids = Array.from({ length: count }, (_, i) => `many-${i}`);
  const embedding = Buffer.from(new Float32Array(dimension).fill(0.5).buffer);
  await db.query(
    statement(
      'test_vector_many_collections',
      `INSERT INTO vector.collection SELECT 'acc_many', u.id, u.id, $2, 'cosine', NULL, 1, 0, $3, now(), now()
       FROM unnest($1::text[]) u(id)`,
    ),
    [textArray(ids), dimension, rowsEach],
  );
  await db.query(
    statement(
      'test_vector_many_items',
      `INSERT INTO vector.item SELECT 'acc_many', u.id, 'row-' || n, 1, $2, NULL
       FROM unnest($1::text[]) u(id), generate_series(1, $3::int) n`,
    ),
    [textArray(ids), embedding, rowsEach],
  );
  return ids.map((collectionId) => ({ accountId: 'acc_many', collectionId, dimension, metric: 'cosine', version: 1 }));
}

/** Numbers from -1 to 1, the same each run. */
export function randomSource(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

export const randomVector = (random: () => number, dimension: number) =>
  Float32Array.from({ length: dimension }, random);
