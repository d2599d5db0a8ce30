// SQL of upserts and metadata updates. Every statement is set-based over the accounts and collections of a commit, whose rows of
// vector.collection are locked.

import { byteaArray, int8Array, textArray } from '../../../db/arrays.ts';
import type { Queryable, Rows } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import type { CollectionRow } from '../collections/store.ts';
import type { RowChange } from './change.ts';

// Each row by its whole key: OFFSET 0 keeps the planner from joining, which would read all collections of an account.
export const readCollections = statement(
  'vector_change_read_collections',
  `SELECT g.*
     FROM unnest($2::text[], $3::text[]) u(account_id, name),
          LATERAL (SELECT c.* FROM vector.collection c
                    WHERE c.account_id = ANY($1::text[]) AND c.account_id = u.account_id AND c.name = u.name OFFSET 0) g`,
);
// Lists of names and ids beside the joins: without them the planner may read all rows of an account.
// What a long write has locked is left out: who holds the lock of a wallet never waits for that of a collection.
const lockFreeCollections = statement(
  'vector_change_lock_collections',
  `WITH g AS MATERIALIZED (
     SELECT c.* FROM unnest($2::text[], $3::text[]) u(account_id, name), vector.collection c
      WHERE c.account_id = ANY($1::text[]) AND c.name = ANY($3::text[]) AND c.account_id = u.account_id AND c.name = u.name
        FOR UPDATE OF c SKIP LOCKED)
   SELECT g.* FROM g`,
);
const readIds = statement(
  'vector_change_read_ids',
  `SELECT g.account_id, u.name, i.id
     FROM unnest($2::text[], $3::text[], $4::text[]) u(account_id, name, id),
          LATERAL (SELECT c.account_id, c.collection_id FROM vector.collection c
                    WHERE c.account_id = ANY($1::text[]) AND c.account_id = u.account_id AND c.name = u.name OFFSET 0) g,
          LATERAL (SELECT t.id FROM vector.item t
                    WHERE t.account_id = ANY($1::text[]) AND t.account_id = g.account_id AND t.collection_id = g.collection_id
                      AND t.id = u.id OFFSET 0) i`,
);
// Before the rows are written: those that are not there yet are counted.
const advanceCollections = statement(
  'vector_change_advance',
  `UPDATE vector.collection t SET version = t.version + 1, vector_count = t.vector_count + s.added, updated_at = $5
     FROM (SELECT u.account_id, u.collection_id, count(*) - count(i.id) AS added
             FROM unnest($2::text[], $3::text[], $4::text[]) u(account_id, collection_id, id)
             LEFT JOIN LATERAL (SELECT e.id FROM vector.item e
                                 WHERE e.account_id = ANY($1::text[]) AND e.account_id = u.account_id
                                   AND e.collection_id = u.collection_id AND e.id = u.id OFFSET 0) i ON true
            GROUP BY u.account_id, u.collection_id) s
    WHERE t.account_id = ANY($1::text[]) AND t.collection_id = ANY($3::text[])
      AND t.account_id = s.account_id AND t.collection_id = s.collection_id`,
);
const upsertItems = statement(
  'vector_change_upsert_items',
  `INSERT INTO vector.item AS t (account_id, collection_id, id, version, embedding, metadata)
   SELECT w.account_id, u.collection_id, u.id, u.version, u.embedding, u.metadata::jsonb
     FROM core.wallet w, unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::bytea[], $7::text[])
          u(account_id, collection_id, id, version, embedding, metadata)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id, collection_id, id) DO UPDATE
      SET version = excluded.version, embedding = excluded.embedding, metadata = excluded.metadata`,
);
const updateItems = statement(
  'vector_change_update_items',
  `UPDATE vector.item t SET version = s.version, metadata = s.metadata
     FROM (SELECT u.account_id, u.collection_id, u.id, u.version, u.metadata::jsonb AS metadata
             FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[]) u(account_id, collection_id, id, version, metadata)) s
    WHERE t.account_id = ANY($1::text[]) AND t.collection_id = ANY($3::text[]) AND t.id = ANY($4::text[])
      AND t.account_id = s.account_id AND t.collection_id = s.collection_id AND t.id = s.id`,
);

export interface CollectionName {
  readonly accountId: string;
  readonly name: string;
}

/** Of these collections those that nobody else is writing to; they are locked. */
export function lockFree(
  tx: Queryable,
  accounts: Buffer,
  names: readonly CollectionName[],
): Promise<Rows<CollectionRow>> {
  return tx.query<CollectionRow>(lockFreeCollections, [accounts, ...columnsOf(names)]);
}

export function readNamed(
  db: Queryable,
  accounts: Buffer,
  names: readonly CollectionName[],
): Promise<Rows<CollectionRow>> {
  return db.query<CollectionRow>(readCollections, [accounts, ...columnsOf(names)]);
}

/** Those of the named vectors that are there. */
export function readKnownIds(
  tx: Queryable,
  accounts: Buffer,
  wanted: readonly (CollectionName & { readonly id: string })[],
): Promise<Rows<{ account_id: string; name: string; id: string }>> {
  return tx.query(readIds, [accounts, ...columnsOf(wanted), textArray(wanted.map(({ id }) => id))]);
}

function columnsOf(names: readonly CollectionName[]): [Buffer, Buffer] {
  return [textArray(names.map(({ accountId }) => accountId)), textArray(names.map(({ name }) => name))];
}

/** The next version of each collection, and its count with the vectors that are new. To be sent before the rows. */
export function sendAdvance(
  tx: Queryable,
  accounts: Buffer,
  ids: readonly Pick<RowChange, 'collection' | 'id'>[],
  nowMs: number,
): Promise<unknown> {
  return tx.query(advanceCollections, [
    accounts,
    textArray(ids.map(({ collection }) => collection.account_id)),
    textArray(ids.map(({ collection }) => collection.collection_id)),
    textArray(ids.map(({ id }) => id)),
    timestamp(nowMs),
  ]);
}

/** Rows with an embedding; each id at most once. `room`: for the embeddings on their way, free again with the answer. */
export function sendUpserts(
  tx: Queryable,
  accounts: Buffer,
  rows: readonly RowChange[],
  room: Buffer | null = null,
): Promise<unknown> {
  return tx.query(upsertItems, [
    accounts,
    ...keysOf(rows),
    byteaArray(
      rows.map(({ embedding }) => embedding),
      room,
    ),
    textArray(rows.map(({ metadata }) => metadata)),
  ]);
}

/** Rows that keep their embedding. */
export function sendUpdates(tx: Queryable, accounts: Buffer, rows: readonly RowChange[]): Promise<unknown> {
  return tx.query(updateItems, [accounts, ...keysOf(rows), textArray(rows.map(({ metadata }) => metadata))]);
}

function keysOf(rows: readonly RowChange[]): Buffer[] {
  return [
    textArray(rows.map(({ collection }) => collection.account_id)),
    textArray(rows.map(({ collection }) => collection.collection_id)),
    textArray(rows.map(({ id }) => id)),
    int8Array(rows.map(({ collection }) => collection.version + 1n)),
  ];
}
