// Tables of the engine's copy, in a schema of its own. All of it is derived: `DROP SCHEMA vector_index CASCADE` while nothing runs loses
// nothing. No migration creates it, since the type `vector` does not exist without the extension.
import type { Database, Queryable } from '../../../../db/database.ts';
import { statement } from '../../../../db/statement.ts';

const RELEASE_MIN = [0, 8] as const;
/** An arbitrary constant that no other user of the database is likely to lock. */
const LOCK_KEY = 7_265_118_808;

const selectExtension = statement(
  'vector_pg_extension',
  `SELECT e.extversion AS release, to_regtype('vector') IS NOT NULL AS reachable FROM pg_extension e WHERE e.extname = 'vector'`,
);
const selectTypeOid = statement('vector_pg_type', `SELECT 'vector'::regtype::oid::text AS oid`);
const selectSchema = statement('vector_pg_schema', `SELECT to_regclass('vector_index.progress') IS NOT NULL AS found`);
const lockSchema = statement('vector_pg_lock_schema', `SELECT pg_advisory_xact_lock(${LOCK_KEY})`);
const createSchema = statement('vector_pg_create_schema', 'CREATE SCHEMA IF NOT EXISTS vector_index');
// norm: in f64, of the f32 values. Rows stay in their page up to 2,000 dimensions: a scan then reads pages in order.
const createEmbedding = statement(
  'vector_pg_create_embedding',
  `CREATE TABLE IF NOT EXISTS vector_index.embedding (
     account_id text COLLATE "C" NOT NULL,
     collection_id text COLLATE "C" NOT NULL,
     id text COLLATE "C" NOT NULL,
     version bigint NOT NULL,
     norm double precision NOT NULL,
     embedding vector NOT NULL,
     metadata jsonb,
     PRIMARY KEY (account_id, collection_id, id)
   ) WITH (toast_tuple_target = 8160)`,
);
// version: the copy is vector.item as it was after this change. has_wide: a norm out of the range of f32 arithmetic was there once.
const createProgress = statement(
  'vector_pg_create_progress',
  `CREATE TABLE IF NOT EXISTS vector_index.progress (
     account_id text COLLATE "C" NOT NULL,
     collection_id text COLLATE "C" NOT NULL,
     version bigint NOT NULL,
     row_count bigint NOT NULL,
     has_wide boolean NOT NULL,
     PRIMARY KEY (account_id, collection_id)
   )`,
);

/** Whether the connected database has pgvector 0.8 or later installed, in a schema of the search path. */
export async function hasPgvector(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ release: string; reachable: boolean }>(selectExtension, []);
  const [extension] = rows;
  if (extension === undefined || !extension.reachable) return false;
  const [major = 0, minor = 0] = extension.release.split('.').map(Number);
  return major > RELEASE_MIN[0] || minor >= RELEASE_MIN[1];
}

/** Makes the tables where they are missing. Answers the OID of the type `vector`. */
export async function prepareSchema(db: Database): Promise<number> {
  const { rows } = await db.query<{ found: boolean }>(selectSchema, []);
  if (rows[0]?.found !== true)
    await db.transaction(async (tx) => {
      for (const step of [lockSchema, createSchema, createEmbedding, createProgress]) await tx.query(step, []);
    });
  return Number((await db.query<{ oid: string }>(selectTypeOid, [])).rows[0]?.oid);
}
