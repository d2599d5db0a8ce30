// What a worker reads of a collection. Pages follow the index on (version, id).
// Embeddings come as hex: the driver reads results as text only. Decoding runs at 700 MB of vectors a second, a whole load at 60
// (PostgreSQL and the socket are most of it), so it is not worth a protocol of our own.
import type { Database, Queryable, Transaction } from '../../../../db/database.ts';
import { statement } from '../../../../db/statement.ts';
import type { CollectionRef } from '../port.ts';
import type { StoredItem } from './resident.ts';

const PAGE_BYTES = 4 * 2 ** 20;
/** What a row's id, metadata and frame are taken to weigh. */
const ROW_BYTES_BESIDE = 512;
const TOMBSTONES_PER_PAGE = 10_000;

export interface CollectionRow {
  readonly version: number;
  readonly forgottenVersion: number;
  readonly vectorCount: number;
}

/** A place in the order of (version, id); rows behind it come next. */
export interface Place {
  readonly version: number;
  readonly id: string;
}

/** Before everything that changed after `version`: ids are not empty. */
export const placeAfter = (version: number): Place => ({ version: version + 1, id: '' });

export interface Tombstone {
  readonly id: string;
  readonly version: number;
}

const selectCollection = statement(
  'vector_engine_collection',
  `SELECT c.version, c.forgotten_version, c.vector_count FROM vector.collection c
   WHERE c.account_id = $1 AND c.collection_id = $2`,
);

const selectItems = statement(
  'vector_engine_items',
  `SELECT i.id, i.version, i.embedding, i.metadata FROM vector.item i
   WHERE i.account_id = $1 AND i.collection_id = $2 AND (i.version, i.id) > ($3, $4) AND i.version <= $5
   ORDER BY i.version, i.id LIMIT $6`,
);

const selectTombstones = statement(
  'vector_engine_tombstones',
  `SELECT t.id, t.version FROM vector.tombstone t
   WHERE t.account_id = $1 AND t.collection_id = $2 AND (t.version, t.id) > ($3, $4)
   ORDER BY t.version, t.id LIMIT $5`,
);

const oneSnapshot = statement('vector_engine_snapshot', 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');

/** Runs `body` on one state of the database. Statements may be sent without waiting. */
export function readSnapshot<T>(db: Database, body: (tx: Transaction) => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    // its failure is that of every statement behind it
    tx.query(oneSnapshot, []).catch(() => undefined);
    return body(tx);
  });
}

export async function readCollection(on: Queryable, ref: CollectionRef): Promise<CollectionRow | undefined> {
  const { rows } = await on.query<{ version: bigint; forgotten_version: bigint; vector_count: bigint }>(
    selectCollection,
    [ref.accountId, ref.collectionId],
  );
  const [row] = rows;
  return (
    row && {
      version: Number(row.version),
      forgottenVersion: Number(row.forgotten_version),
      vectorCount: Number(row.vector_count),
    }
  );
}

export const itemsPerPage = (dimension: number) => Math.ceil(PAGE_BYTES / (dimension * 4 + ROW_BYTES_BESIDE));

/** The next rows up to a version, in the order of (version, id). */
export async function readItems(on: Queryable, ref: CollectionRef, after: Place, upTo: number): Promise<StoredItem[]> {
  const { rows } = await on.query<{ id: string; version: bigint; embedding: Buffer; metadata: unknown }>(selectItems, [
    ref.accountId,
    ref.collectionId,
    after.version,
    after.id,
    upTo,
    itemsPerPage(ref.dimension),
  ]);
  return rows.map(({ id, version, embedding, metadata }) => ({ id, version: Number(version), embedding, metadata }));
}

/** Every deletion after a version. */
export async function readTombstones(on: Queryable, ref: CollectionRef, afterVersion: number): Promise<Tombstone[]> {
  const all: Tombstone[] = [];
  let after = placeAfter(afterVersion);
  for (;;) {
    const values = [ref.accountId, ref.collectionId, after.version, after.id, TOMBSTONES_PER_PAGE];
    const { rows } = await on.query<{ id: string; version: bigint }>(selectTombstones, values);
    const page = rows.map(({ id, version }) => ({ id, version: Number(version) }));
    all.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < TOMBSTONES_PER_PAGE) return all;
    after = last;
  }
}
