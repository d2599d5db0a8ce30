// SQL of stored vectors: reads and deletes by id, by prefix and by filter.

import { textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import type { Filter } from '../engine/port.ts';
import { filterParameters, passesFilter } from './filter.ts';

export interface ItemRow {
  readonly id: string;
  readonly version: bigint;
  /** JSON text. */
  readonly metadata: string | null;
  /** Little-endian f32. */
  readonly embedding: Buffer | null;
}

const selectItems = statement(
  'vector_select_items',
  `SELECT i.id, i.version, i.metadata::text AS metadata, NULL::bytea AS embedding
     FROM vector.item i WHERE i.account_id = $1 AND i.collection_id = $2 AND i.id = ANY($3::text[])`,
);
const selectItemsWithValues = statement(
  'vector_select_items_with_values',
  `SELECT i.id, i.version, i.metadata::text AS metadata, i.embedding
     FROM vector.item i WHERE i.account_id = $1 AND i.collection_id = $2 AND i.id = ANY($3::text[])`,
);
const selectPage = statement(
  'vector_select_page',
  `SELECT i.id, i.metadata::text AS metadata
     FROM vector.item i
    WHERE i.account_id = $1 AND i.collection_id = $2 AND i.id > $3 AND i.id >= $4 AND i.id < $5
    ORDER BY i.account_id, i.collection_id, i.id LIMIT $6`,
);
const deleteItems = statement(
  'vector_delete_items',
  `DELETE FROM vector.item WHERE account_id = $1 AND collection_id = $2 AND id = ANY($3::text[]) RETURNING id`,
);
// LIMIT bounds the rows that are examined, not those that pass.
const findPassing = statement(
  'vector_find_passing',
  `SELECT w.id, w.version, w.passes, w.n
     FROM (SELECT i.id, i.version, ${passesFilter} AS passes, row_number() OVER (ORDER BY i.id) AS n
             FROM (SELECT i.id, i.version, i.metadata
                     FROM vector.item i
                    WHERE i.account_id = $4 AND i.collection_id = $5 AND i.id > $6
                    ORDER BY i.account_id, i.collection_id, i.id LIMIT $7) i) w
    WHERE w.passes OR w.n = $7`,
);
// A vector that has not changed since it was found still passes.
const deletePassing = statement(
  'vector_delete_passing',
  `DELETE FROM vector.item AS i
    WHERE i.account_id = $4 AND i.collection_id = $5 AND i.id = ANY($6::text[]) AND (i.version <= $7 OR ${passesFilter})
   RETURNING i.id`,
);
const insertTombstones = statement(
  'vector_insert_tombstones',
  `INSERT INTO vector.tombstone AS t (account_id, collection_id, version, id, deleted_at)
   SELECT w.account_id, $2, $3::bigint, u.id, $5::timestamptz
     FROM core.wallet w, unnest($4::text[]) u(id)
    WHERE w.account_id = $1`,
);

interface Collection {
  readonly account_id: string;
  readonly collection_id: string;
}

/** In no order; ids that are not there are left out. */
export async function findItems(
  db: Queryable,
  { account_id, collection_id }: Collection,
  ids: readonly string[],
  withValues: boolean,
): Promise<ItemRow[]> {
  const query = withValues ? selectItemsWithValues : selectItems;
  return (await db.query<ItemRow>(query, [account_id, collection_id, textArray(ids)])).rows;
}

/** Vectors with ids after `after` that begin with `prefix`, by id (code points). */
export async function listItems(
  db: Queryable,
  { account_id, collection_id }: Collection,
  { after, prefix, limit }: { readonly after: string; readonly prefix: string; readonly limit: number },
): Promise<Pick<ItemRow, 'id' | 'metadata'>[]> {
  const values = [account_id, collection_id, after, prefix, endOfPrefix(prefix), limit];
  return (await db.query<Pick<ItemRow, 'id' | 'metadata'>>(selectPage, values)).rows;
}

/** Vectors that passed when they were examined. */
export interface Passing {
  readonly ids: readonly string[];
  /** None of them has changed since unless its version is higher. */
  readonly version: bigint;
  /** The last one examined; null when it was the last of the collection. */
  readonly last: string | null;
}

/** Examines `rows` vectors with ids after `after`, by id. Takes no lock. */
export async function findPassingItems(
  db: Queryable,
  { account_id, collection_id }: Collection,
  filter: Filter,
  { after, rows: count }: { readonly after: string; readonly rows: number },
): Promise<Passing> {
  const values = [...filterParameters(filter), account_id, collection_id, after, count];
  const { rows } = await db.query<PassingRow>(findPassing, values);
  const passing = rows.filter(({ passes }) => passes);
  return {
    ids: passing.map(({ id }) => id),
    version: passing.reduce((highest, { version }) => (version > highest ? version : highest), 0n),
    last: rows.find(({ n }) => Number(n) === count)?.id ?? null,
  };
}

interface PassingRow {
  readonly id: string;
  readonly version: bigint;
  readonly passes: boolean;
  readonly n: bigint;
}

/** Removes vectors of a locked collection as its change `version`. Answers how many were there. */
export async function removeItems(
  tx: Queryable,
  collection: Collection,
  ids: readonly string[],
  version: bigint,
  nowMs: number,
): Promise<number> {
  const values = [collection.account_id, collection.collection_id, textArray(ids)];
  return entomb(tx, collection, (await tx.query<{ id: string }>(deleteItems, values)).rows, version, nowMs);
}

/** Removes those of `found` that still pass, as `removeItems` does. */
export async function removePassingItems(
  tx: Queryable,
  collection: Collection,
  { filter, found }: { readonly filter: Filter; readonly found: Passing },
  version: bigint,
  nowMs: number,
): Promise<number> {
  const { account_id, collection_id } = collection;
  const values = [...filterParameters(filter), account_id, collection_id, textArray(found.ids), found.version];
  return entomb(tx, collection, (await tx.query<{ id: string }>(deletePassing, values)).rows, version, nowMs);
}

/** Leaves tombstones of removed vectors. Answers how many. */
async function entomb(
  tx: Queryable,
  { account_id, collection_id }: Collection,
  removed: readonly { readonly id: string }[],
  version: bigint,
  nowMs: number,
): Promise<number> {
  if (removed.length > 0) {
    const gone = textArray(removed.map(({ id }) => id));
    await tx.query(insertTombstones, [account_id, collection_id, version, gone, timestamp(nowMs)]);
  }
  return removed.length;
}

/** Above every id: the largest code point, as often as it has place. */
const LAST = '\u{10ffff}'.repeat(65);

/** The least text above all that begin with `prefix`. */
export function endOfPrefix(prefix: string): string {
  const points = [...prefix];
  while (points.length > 0) {
    const last = points.pop()?.codePointAt(0) as number;
    if (last < 0x10ffff) return points.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1);
  }
  return LAST;
}
