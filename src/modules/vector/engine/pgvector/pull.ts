// Brings the copy of a collection up to date: all changes since the copy's version, in one transaction on one snapshot. So a search finds all of
// a change or nothing of it, and a process that dies leaves nothing half done.
import { textArray } from '../../../../db/arrays.ts';
import { type Database, sqlState, type Transaction } from '../../../../db/database.ts';
import { statement } from '../../../../db/statement.ts';
import { CollectionGone, type CollectionRef } from '../port.ts';
import { normOf } from '../score.ts';
import { isPlain } from './score.ts';
import { encodeVectors } from './wire.ts';

const PAGE_BYTES = 4 * 2 ** 20;
const ROW_BYTES_BESIDE = 512;

const repeatableRead = statement('vector_pg_pull_snapshot', 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
const insertProgress = statement(
  'vector_pg_insert_progress',
  `INSERT INTO vector_index.progress (account_id, collection_id, version, row_count, has_wide) VALUES ($1, $2, 0, 0, false)
   ON CONFLICT (account_id, collection_id) DO NOTHING`,
);
// Who finds it locked waits without a connection.
const claimProgress = statement(
  'vector_pg_claim_progress',
  `WITH c AS MATERIALIZED (
     SELECT p.version, p.has_wide FROM vector_index.progress p
      WHERE p.account_id = $1 AND p.collection_id = $2 FOR UPDATE SKIP LOCKED)
   SELECT c.version, c.has_wide FROM c`,
);
const selectCollection = statement(
  'vector_pg_collection',
  `SELECT c.version, c.forgotten_version, c.vector_count FROM vector.collection c
    WHERE c.account_id = $1 AND c.collection_id = $2`,
);
const removeTold = statement(
  'vector_pg_remove_told',
  `DELETE FROM vector_index.embedding t
    WHERE t.account_id = $1 AND t.collection_id = $2
      AND t.id IN (SELECT d.id FROM vector.tombstone d WHERE d.account_id = $1 AND d.collection_id = $2 AND d.version > $3)`,
);
const removeMissing = statement(
  'vector_pg_remove_missing',
  `DELETE FROM vector_index.embedding t
    WHERE t.account_id = $1 AND t.collection_id = $2
      AND NOT EXISTS (SELECT FROM vector.item i WHERE i.account_id = $1 AND i.collection_id = $2 AND i.id = t.id)`,
);
const selectChanged = statement(
  'vector_pg_changed',
  `SELECT i.id, i.version, i.embedding FROM vector.item i
    WHERE i.account_id = $1 AND i.collection_id = $2 AND (i.version, i.id) > ($3, $4)
    ORDER BY i.version, i.id LIMIT $5`,
);
const upsertRows = statement(
  'vector_pg_upsert',
  `INSERT INTO vector_index.embedding AS t (account_id, collection_id, id, version, norm, embedding, metadata)
   SELECT i.account_id, i.collection_id, i.id, i.version, u.norm::double precision, u.embedding, i.metadata
     FROM unnest($3::text[], $4::text[], $5::vector[]) u(id, norm, embedding),
          LATERAL (SELECT s.* FROM vector.item s
                    WHERE s.account_id = $1 AND s.collection_id = $2 AND s.id = u.id OFFSET 0) i
       ON CONFLICT (account_id, collection_id, id) DO UPDATE
      SET version = excluded.version, norm = excluded.norm, embedding = excluded.embedding, metadata = excluded.metadata`,
);
const saveProgress = statement(
  'vector_pg_save_progress',
  `UPDATE vector_index.progress SET version = $3, row_count = $4, has_wide = $5 WHERE account_id = $1 AND collection_id = $2`,
);

interface Changed {
  readonly id: string;
  readonly version: bigint;
  readonly embedding: Buffer;
}

export interface Pulled {
  readonly rows: number;
}

const SERIALIZATION_FAILURE = '40001';

/**
 * Null when another process is at it, or was faster. Throws CollectionGone, and what the database throws.
 * @param typeOid of `vector`
 * @param signal ends it between two pages, and nothing has happened
 */
export async function pull(
  db: Database,
  ref: CollectionRef,
  typeOid: number,
  signal: AbortSignal,
): Promise<Pulled | null> {
  // On its own: whoever inserts the same row waits for the transaction that did it first.
  await db.query(insertProgress, [ref.accountId, ref.collectionId]);
  try {
    return await db.transaction((tx) => pullAll(tx, ref, typeOid, signal));
  } catch (error) {
    // The only row that others write too is that of the progress.
    if (sqlState(error) === SERIALIZATION_FAILURE) return null;
    throw error;
  }
}

async function pullAll(
  tx: Transaction,
  ref: CollectionRef,
  typeOid: number,
  signal: AbortSignal,
): Promise<Pulled | null> {
  const keys = [ref.accountId, ref.collectionId];
  await tx.query(repeatableRead, []);
  const [progress] = (await tx.query<{ version: bigint; has_wide: boolean }>(claimProgress, keys)).rows;
  if (progress === undefined) return null;
  const [collection] = (
    await tx.query<{ version: bigint; forgotten_version: bigint; vector_count: bigint }>(selectCollection, keys)
  ).rows;
  if (collection === undefined) throw new CollectionGone();
  if (progress.version >= collection.version) return { rows: 0 };
  if (progress.version < collection.forgotten_version) await tx.query(removeMissing, keys);
  else await tx.query(removeTold, [...keys, progress.version]);
  const copied = await copyChanged(tx, ref, { after: progress.version, typeOid, signal });
  const hasWide = progress.has_wide || copied.hasWide;
  await tx.query(saveProgress, [...keys, collection.version, collection.vector_count, hasWide]);
  return { rows: copied.rows };
}

async function copyChanged(
  tx: Transaction,
  { accountId, collectionId, dimension }: CollectionRef,
  { after, typeOid, signal }: { readonly after: bigint; readonly typeOid: number; readonly signal: AbortSignal },
): Promise<{ rows: number; hasWide: boolean }> {
  const limit = Math.ceil(PAGE_BYTES / (dimension * 4 + ROW_BYTES_BESIDE));
  let place: Pick<Changed, 'version' | 'id'> = { version: after + 1n, id: '' };
  let rows = 0;
  let hasWide = false;
  for (;;) {
    signal.throwIfAborted();
    const page = await tx.query<Changed>(selectChanged, [accountId, collectionId, place.version, place.id, limit]);
    const last = page.rows.at(-1);
    if (last === undefined) return { rows, hasWide };
    const norms = page.rows.map(({ embedding }) => normOf(new Float32Array(new Uint8Array(embedding).buffer)));
    await tx.query(upsertRows, [
      accountId,
      collectionId,
      textArray(page.rows.map(({ id }) => id)),
      textArray(norms.map(String)),
      encodeVectors(
        typeOid,
        page.rows.map(({ embedding }) => embedding),
      ),
    ]);
    rows += page.rows.length;
    hasWide ||= !norms.every(isPlain);
    place = last;
    if (page.rows.length < limit) return { rows, hasWide };
  }
}
