// SQL of collections.

import type { CountedLimit } from '../../../core/callers/tiers.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { resourceTable, rowSaver } from '../../../kit/resource.ts';
import { iso } from '../../../lib/time.ts';
import type { CollectionRef, Metric, VectorEngine } from '../engine/port.ts';

export interface CollectionRow {
  readonly account_id: string;
  readonly name: string;
  readonly collection_id: string;
  readonly dimension: number;
  readonly metric: Metric;
  /** JSON as it was sent. */
  readonly metadata: string | null;
  readonly version: bigint;
  readonly forgotten_version: bigint;
  readonly vector_count: bigint;
  readonly created_at: number;
  readonly updated_at: number;
}

const lockCollection = statement(
  'vector_lock_collection',
  `SELECT c.* FROM vector.collection c WHERE c.account_id = $1 AND c.name = $2 FOR UPDATE`,
);
const deleteCollection = statement(
  'vector_delete_collection',
  `DELETE FROM vector.collection WHERE account_id = $1 AND name = $2 RETURNING collection_id, vector_count`,
);
const insertDoomed = statement(
  'vector_insert_doomed',
  `INSERT INTO vector.doomed (account_id, collection_id, doomed_at) VALUES ($1, $2, core.clock_now())`,
);
const saveRemoval = statement(
  'vector_save_removal',
  `UPDATE vector.collection SET version = $3, vector_count = vector_count - $4, updated_at = $5
    WHERE account_id = $1 AND collection_id = $2`,
);

const shape = {
  table: 'vector.collection',
  key: 'name',
  columns:
    'name, collection_id, dimension, metric, metadata, version, forgotten_version, vector_count, created_at, updated_at',
};
/** A page of them is in the order of their names. */
export const collectionTable = resourceTable<CollectionRow>({ ...shape, columns: '*' });
export const saveCollection = rowSaver<CollectionRow>(shape);

/** By tier; account.tier shows it. */
export const vectorLimits = {
  collections: {
    description: 'Vector collections.',
    used: collectionTable.count,
    standard: 1_000,
    pro: 5_000,
    enterprise: 50_000,
  },
} satisfies Readonly<Record<string, CountedLimit>>;

/** The collection, which nobody else changes until the transaction ends. Waits for who does. */
export async function holdCollection(tx: Queryable, accountId: string, name: string): Promise<CollectionRow | null> {
  return (await tx.query<CollectionRow>(lockCollection, [accountId, name])).rows[0] ?? null;
}

/** The name is free at once; the rows go in the background. Null when there is no such collection. */
export async function removeCollection(
  tx: Queryable,
  accountId: string,
  name: string,
): Promise<{ collectionId: string; vectors: bigint } | null> {
  const { rows } = await tx.query<Pick<CollectionRow, 'collection_id' | 'vector_count'>>(deleteCollection, [
    accountId,
    name,
  ]);
  const [gone] = rows;
  if (gone === undefined) return null;
  await tx.query(insertDoomed, [accountId, gone.collection_id]);
  return { collectionId: gone.collection_id, vectors: gone.vector_count };
}

/** Counts `removed` vectors out of a locked collection, as its change `version`. */
export async function countOut(
  tx: Queryable,
  { account_id, collection_id }: CollectionRow,
  version: bigint,
  removed: number,
  nowMs: number,
): Promise<void> {
  await tx.query(saveRemoval, [account_id, collection_id, version, removed, timestamp(nowMs)]);
}

export function refOf(row: CollectionRow): CollectionRef {
  return {
    accountId: row.account_id,
    collectionId: row.collection_id,
    dimension: row.dimension,
    metric: row.metric,
    version: Number(row.version),
  };
}

// Collections as callers see them.

/** JSON text of a collection: its metadata goes out as it came in. */
export function collectionText(row: CollectionRow, engine: VectorEngine): string {
  const { state, bytes } = engine.indexState(refOf(row));
  const head = JSON.stringify({ collection: row.name, dimension: row.dimension, metric: row.metric });
  const tail = JSON.stringify({
    vector_count: Number(row.vector_count),
    state: 'ready',
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    raw_vendor_payload: { engine: engine.name, bytes, index_state: state },
  });
  return `${head.slice(0, -1)},"metadata":${row.metadata ?? 'null'},${tail.slice(1)}`;
}
