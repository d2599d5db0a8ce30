// Removes the copies of deleted collections, a bounded batch at a time. Rows are only written under the lock of their progress row. So a batch
// that finds no more rows under that lock may delete the progress row too.
import { mendEach } from '../../../../core/background/sweeper/sweep.ts';
import type { Database } from '../../../../db/database.ts';
import { statement } from '../../../../db/statement.ts';

const ROWS_PER_TRANSACTION = 1_000;
const COLLECTIONS_PER_RUN = 200;

const lockProgress = statement(
  'vector_pg_lock_progress',
  `SELECT p.version FROM vector_index.progress p WHERE p.account_id = $1 AND p.collection_id = $2 FOR UPDATE`,
);
const removeRows = statement(
  'vector_pg_remove_rows',
  `WITH c AS MATERIALIZED (
     SELECT e.id FROM vector_index.embedding e WHERE e.account_id = $1 AND e.collection_id = $2 LIMIT $3)
   DELETE FROM vector_index.embedding t USING c WHERE t.account_id = $1 AND t.collection_id = $2 AND t.id = c.id`,
);
const removeProgress = statement(
  'vector_pg_remove_progress',
  'DELETE FROM vector_index.progress WHERE account_id = $1 AND collection_id = $2',
);
const findOrphans = statement(
  'vector_pg_orphans',
  `/* fan-out: copies of deleted collections */
   SELECT p.account_id, p.collection_id FROM vector_index.progress p
    WHERE NOT EXISTS (SELECT FROM vector.collection c WHERE c.account_id = p.account_id AND c.collection_id = p.collection_id)
    LIMIT $1`,
);

export async function removeCopy(
  db: Database,
  accountId: string,
  collectionId: string,
  signal: AbortSignal,
): Promise<void> {
  const keys = [accountId, collectionId];
  for (let done = false; !done && !signal.aborted; )
    done = await db.transaction(async (tx) => {
      const { rows } = await tx.query(lockProgress, keys);
      if (rows.length === 0) return true;
      const { count } = await tx.query(removeRows, [...keys, ROWS_PER_TRANSACTION]);
      if (count === ROWS_PER_TRANSACTION) return false;
      await tx.query(removeProgress, keys);
      return true;
    });
}

/** What no process was told to forget, because the one that was to be told died. True when there is more. */
export async function removeOrphans(db: Database, signal: AbortSignal): Promise<boolean> {
  const { rows } = await db.query<{ account_id: string; collection_id: string }>(findOrphans, [COLLECTIONS_PER_RUN]);
  const finished = await mendEach(rows, signal, ({ account_id, collection_id }) =>
    removeCopy(db, account_id, collection_id, signal),
  );
  return finished && rows.length === COLLECTIONS_PER_RUN;
}
