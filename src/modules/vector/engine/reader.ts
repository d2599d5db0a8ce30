// Reads of a collection for search; pages follow the index on (version, id). Embeddings come as hex, because the driver reads results as text
// only. Decoding runs at 700 MB of vectors a second, a whole load at 60 (mostly PostgreSQL and the socket): no binary protocol is worth it.
import type { Database, Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { CollectionRef } from './port.ts';

const PAGE_BYTES = 4 * 2 ** 20;
/** What a row's id, metadata and frame are taken to weigh, until they are read. */
const ROW_BYTES_BESIDE = 512;
/** Rows of a first page: most changes are fewer, and what more rows weigh is not known yet. */
const FIRST_ROWS = 512;
const TOMBSTONES_PER_PAGE = 10_000;

export interface StoredItem {
  readonly id: string;
  readonly version: number;
  readonly embedding: Uint8Array;
  readonly metadata: unknown;
}

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
const placeAfter = (version: number): Place => ({ version: version + 1, id: '' });

/** Where a page begins, and how many rows it may have at most. */
interface PageStart {
  readonly after: Place;
  readonly rows: number;
}

export const changesAfter = (version: number): PageStart => ({ after: placeAfter(version), rows: FIRST_ROWS });

export interface Page {
  readonly items: readonly StoredItem[];
  /** Null behind the last. */
  readonly next: PageStart | null;
}

export interface Tombstone {
  readonly id: string;
  readonly version: number;
}

const selectCollection = statement(
  'vector_engine_collection',
  `SELECT c.version, c.forgotten_version, c.vector_count FROM vector.collection c
   WHERE c.account_id = $1 AND c.collection_id = $2`,
);

// A page ends behind the row whose metadata exceeds $7 bytes: as text it may be fifty times what is stored. Measuring it costs the
// rows behind that one, of which there are no more than twice as many as the page before had.
const selectItems = statement(
  'vector_engine_items',
  `SELECT p.id, p.version, p.embedding, p.metadata, p.bytes
   FROM (SELECT t.*, sum(t.bytes) OVER (ORDER BY t.version, t.id ROWS UNBOUNDED PRECEDING) - t.bytes AS before
         FROM (SELECT r.*, coalesce(octet_length(r.metadata), 0) AS bytes
               FROM (SELECT i.id, i.version, i.embedding, i.metadata::text AS metadata FROM vector.item i
                     WHERE i.account_id = $1 AND i.collection_id = $2 AND (i.version, i.id) > ($3, $4) AND i.version <= $5
                     ORDER BY i.version, i.id LIMIT $6) r) t) p
   WHERE p.before < $7`,
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

const rowsPerPage = (dimension: number) => Math.ceil(PAGE_BYTES / (dimension * 4 + ROW_BYTES_BESIDE));

interface ItemRow {
  readonly id: string;
  readonly version: bigint;
  readonly embedding: Buffer;
  readonly metadata: string | null;
  readonly bytes: number;
}

/** The next rows up to a version, in the order of (version, id): no more than a few MiB, whatever is in them. */
export async function readItems(on: Queryable, ref: CollectionRef, start: PageStart, upTo: number): Promise<Page> {
  const { after } = start;
  const most = rowsPerPage(ref.dimension);
  const limit = Math.min(start.rows, most);
  const values = [ref.accountId, ref.collectionId, after.version, after.id, upTo, limit, PAGE_BYTES];
  const { rows } = await on.query<ItemRow>(selectItems, values);
  const items = rows.map(({ id, version, embedding, metadata }) => ({
    id,
    version: Number(version),
    embedding,
    metadata: metadata === null ? null : (JSON.parse(metadata) as unknown),
  }));
  const last = items.at(-1);
  const isFull = rows.length === limit || rows.reduce((sum, { bytes }) => sum + bytes, 0) >= PAGE_BYTES;
  return { items, next: last !== undefined && isFull ? { after: last, rows: 2 * rows.length } : null };
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
