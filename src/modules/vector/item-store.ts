// SQL of the stored vectors: by id, by prefix, by filter.
import { textArray } from '../../db/arrays.ts';
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import type { Filter } from './engine/port.ts';
import { filterParameters, passesFilter } from './filter-sql.ts';

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
const findPassing = statement(
  'vector_find_passing',
  `SELECT i.id
     FROM vector.item i
    WHERE i.account_id = $4 AND i.collection_id = $5 AND i.id > $6 AND ${passesFilter}
    ORDER BY i.account_id, i.collection_id, i.id LIMIT $7`,
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

/** Ids after `after` whose metadata passes, by id. */
export async function findPassingIds(
  db: Queryable,
  { account_id, collection_id }: Collection,
  filter: Filter,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<string[]> {
  const values = [...filterParameters(filter), account_id, collection_id, after, limit];
  return (await db.query<{ id: string }>(findPassing, values)).rows.map(({ id }) => id);
}

/** Removes vectors of a locked collection as its change `version`. Answers how many were there. */
export async function removeItems(
  tx: Queryable,
  { account_id, collection_id }: Collection,
  ids: readonly string[],
  version: bigint,
  nowMs: number,
): Promise<number> {
  const { rows } = await tx.query<{ id: string }>(deleteItems, [account_id, collection_id, textArray(ids)]);
  if (rows.length > 0) {
    const gone = textArray(rows.map(({ id }) => id));
    await tx.query(insertTombstones, [account_id, collection_id, version, gone, new Date(nowMs)]);
  }
  return rows.length;
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
