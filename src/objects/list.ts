// Lists of keys in byte order. With a delimiter, keys that share the text before it are one entry, and the index is searched again after
// each entry. So a list of ten names over a million keys reads ten rows.
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { OBJECT_COLUMNS, type ObjectRow } from './object.ts';

export interface Listing {
  readonly accountId: string;
  readonly bucket: string;
  readonly prefix: Buffer;
  /** Empty: none. */
  readonly delimiter: Buffer;
  /** The list begins behind this key or common prefix; null: at its beginning. */
  readonly after: Buffer | null;
  readonly limit: number;
}

export interface Listed {
  /** Objects and common prefixes, in one order. */
  readonly entries: readonly (
    | { readonly kind: 'object'; readonly row: ObjectRow }
    | { readonly kind: 'prefix'; readonly prefix: Buffer }
  )[];
  /** Where the next page begins; null: this is the last one. */
  readonly next: Buffer | null;
}

const plain = statement(
  'storage_list_plain',
  `SELECT ${OBJECT_COLUMNS} FROM storage.object o
    WHERE o.account_id = $1 AND o.bucket = $2 AND o.key >= $3 AND o.key < $4 ORDER BY o.key LIMIT $5::int`,
);
// LIMIT in LATERAL makes each a look-up by the index: without it, and without statistics, all rows were joined by hash.
// $6: the delimiter, $7: the first bytes behind all that begin with it, $8: the length of the prefix.
const grouped = statement(
  'storage_list_grouped',
  `WITH RECURSIVE walk(key, cut, following, n) AS (
     (SELECT o.key, position($6::bytea IN substring(o.key FROM $8::int + 1)),
             CASE WHEN position($6::bytea IN substring(o.key FROM $8::int + 1)) = 0 THEN o.key || '\\x00'::bytea
                  ELSE substring(o.key FROM 1 FOR $8::int + position($6::bytea IN substring(o.key FROM $8::int + 1)) - 1) || $7::bytea END,
             1
        FROM storage.object o
       WHERE o.account_id = $1 AND o.bucket = $2 AND o.key >= $3 AND o.key < $4 ORDER BY o.key LIMIT 1)
     UNION ALL
     SELECT f.key, f.cut, f.following, walk.n + 1
       FROM walk, LATERAL (
         SELECT o.key, position($6::bytea IN substring(o.key FROM $8::int + 1)) AS cut,
                CASE WHEN position($6::bytea IN substring(o.key FROM $8::int + 1)) = 0 THEN o.key || '\\x00'::bytea
                     ELSE substring(o.key FROM 1 FOR $8::int + position($6::bytea IN substring(o.key FROM $8::int + 1)) - 1) || $7::bytea END
                  AS following
           FROM storage.object o
          WHERE o.account_id = $1 AND o.bucket = $2 AND o.key >= walk.following AND o.key < $4 ORDER BY o.key LIMIT 1) f
      WHERE walk.n < $5::int)
   SELECT walk.cut, walk.n, found.*
     FROM walk, LATERAL (
       SELECT ${OBJECT_COLUMNS} FROM storage.object o WHERE o.account_id = $1 AND o.bucket = $2 AND o.key = walk.key LIMIT 1) found
    ORDER BY walk.n`,
);

/** Behind every key. */
const END = Buffer.alloc(1_025, 0xff);

/** The first bytes behind all that begin with `bytes`. */
export function behindPrefix(bytes: Buffer): Buffer {
  for (let length = bytes.length; length > 0; length -= 1) {
    const last = bytes[length - 1] as number;
    if (last < 0xff) return Buffer.concat([bytes.subarray(0, length - 1), Buffer.of(last + 1)]);
  }
  return END;
}

/** A page. What `after` names as a common prefix, no key below it follows. */
export async function listObjects(
  db: Queryable,
  { accountId, bucket, prefix, delimiter, after, limit }: Listing,
): Promise<Listed> {
  if (limit === 0) return { entries: [], next: null };
  const start = startOf(prefix, delimiter, after);
  const bounds = [accountId, bucket, start, behindPrefix(prefix), limit + 1];
  if (delimiter.length === 0) {
    const { rows } = await db.query<ObjectRow>(plain, bounds);
    const entries = rows.slice(0, limit).map((row) => ({ kind: 'object' as const, row }));
    return { entries, next: rows.length > limit ? (entries.at(-1)?.row.key ?? null) : null };
  }
  const { rows } = await db.query<ObjectRow & { cut: number }>(grouped, [
    ...bounds,
    delimiter,
    behindPrefix(delimiter),
    prefix.length,
  ]);
  const entries = rows.slice(0, limit).map((row) => {
    if (row.cut === 0) return { kind: 'object' as const, row };
    return { kind: 'prefix' as const, prefix: row.key.subarray(0, prefix.length + row.cut - 1 + delimiter.length) };
  });
  const last = entries.at(-1);
  const end = last === undefined ? null : last.kind === 'object' ? last.row.key : last.prefix;
  return { entries, next: rows.length > limit ? end : null };
}

function startOf(prefix: Buffer, delimiter: Buffer, after: Buffer | null): Buffer {
  if (after === null || Buffer.compare(after, prefix) < 0) return prefix;
  const isGroup = delimiter.length > 0 && after.indexOf(delimiter, prefix.length) === after.length - delimiter.length;
  if (isGroup && after.subarray(0, prefix.length).equals(prefix)) return behindPrefix(after);
  return Buffer.concat([after, Buffer.of(0)]);
}
