// Background work of vector: removes rows of deleted collections, and tombstones after 5 minutes. An engine that is further behind then re-reads
// the whole collection.

import type { Sweep } from '../../core/background/sweeper/sweep.ts';
import { mendEach } from '../../core/background/sweeper/sweep.ts';
import type { Transaction } from '../../db/database.ts';
import { type Statement, statement } from '../../db/statement.ts';
import type { VectorState } from './state.ts';

const COLLECTIONS_PER_RUN = 200;
const ROWS_PER_TRANSACTION = 1_000;
/** Who has not asked for a deletion after this time reads the whole collection anew. */
const TOLD_FOR_SECONDS = 300;

const findDoomed = statement(
  'vector_find_doomed',
  `/* fan-out: deleted collections */ SELECT d.account_id, d.collection_id FROM vector.doomed d LIMIT $1`,
);
const removeDoomedItems = statement(
  'vector_remove_doomed_items',
  `WITH c AS MATERIALIZED (
     SELECT i.id FROM vector.item i WHERE i.account_id = $1 AND i.collection_id = $2 LIMIT $3)
   DELETE FROM vector.item t USING c WHERE t.account_id = $1 AND t.collection_id = $2 AND t.id = c.id`,
);
const removeDoomedTombstones = statement(
  'vector_remove_doomed_tombstones',
  `WITH c AS MATERIALIZED (
     SELECT d.version, d.id FROM vector.tombstone d WHERE d.account_id = $1 AND d.collection_id = $2 LIMIT $3)
   DELETE FROM vector.tombstone t USING c
    WHERE t.account_id = $1 AND t.collection_id = $2 AND t.version = c.version AND t.id = c.id`,
);
const removeDoomed = statement(
  'vector_remove_doomed',
  'DELETE FROM vector.doomed WHERE account_id = $1 AND collection_id = $2',
);
const findTold = statement(
  'vector_find_told',
  `/* fan-out: collections with old tombstones */
   SELECT o.account_id, o.collection_id
     FROM (SELECT d.account_id, d.collection_id FROM vector.tombstone d
            WHERE d.deleted_at < core.clock_now() - $1 * interval '1 second' ORDER BY d.deleted_at LIMIT 10000) o
    GROUP BY o.account_id, o.collection_id LIMIT $2`,
);
const lockById = statement(
  'vector_lock_by_id',
  `SELECT c.collection_id FROM vector.collection c WHERE c.account_id = $1 AND c.collection_id = $2 FOR UPDATE`,
);
const removeTold = statement(
  'vector_remove_told',
  `WITH c AS MATERIALIZED (
     SELECT d.version, d.id FROM vector.tombstone d
      WHERE d.account_id = $1 AND d.collection_id = $2 AND d.deleted_at < core.clock_now() - $3 * interval '1 second'
      ORDER BY d.account_id, d.collection_id, d.version, d.id LIMIT $4)
   DELETE FROM vector.tombstone t USING c
    WHERE t.account_id = $1 AND t.collection_id = $2 AND t.version = c.version AND t.id = c.id
   RETURNING t.version`,
);
const forget = statement(
  'vector_forget_deletions',
  `UPDATE vector.collection SET forgotten_version = greatest(forgotten_version, $3::bigint)
    WHERE account_id = $1 AND collection_id = $2`,
);

interface Doomed {
  readonly account_id: string;
  readonly collection_id: string;
}

export function vectorSweeps(state: VectorState): readonly Sweep[] {
  return [
    { name: 'vector.deleted', intervalMs: 2_000, run: (signal) => bury(state, signal) },
    { name: 'vector.tombstones', intervalMs: 30_000, run: (signal) => forgetDeletions(state, signal) },
    ...(state.engine.sweeps ?? []),
  ];
}

async function bury({ core: { db } }: VectorState, signal: AbortSignal): Promise<boolean> {
  const { rows } = await db.query<Doomed>(findDoomed, [COLLECTIONS_PER_RUN]);
  const finished = await mendEach(rows, signal, async ({ account_id, collection_id }) => {
    const id = [account_id, collection_id];
    const removeAll = async (remove: Statement) => {
      for (let removed = ROWS_PER_TRANSACTION; removed === ROWS_PER_TRANSACTION && !signal.aborted; )
        removed = (await db.query(remove, [...id, ROWS_PER_TRANSACTION])).count;
    };
    await removeAll(removeDoomedItems);
    await removeAll(removeDoomedTombstones);
    if (!signal.aborted) await db.query(removeDoomed, id);
  });
  return finished && rows.length === COLLECTIONS_PER_RUN;
}

async function forgetDeletions({ core: { db } }: VectorState, signal: AbortSignal): Promise<boolean> {
  const { rows } = await db.query<Doomed>(findTold, [TOLD_FOR_SECONDS, COLLECTIONS_PER_RUN]);
  let more = false;
  const finished = await mendEach(rows, signal, async (collection) => {
    const removed = await db.transaction((tx) => forgetSome(tx, collection));
    if (removed === ROWS_PER_TRANSACTION) more = true;
  });
  return finished && (more || rows.length === COLLECTIONS_PER_RUN);
}

/** In one transaction: whoever sees the tombstones gone sees that they were forgotten. */
async function forgetSome(tx: Transaction, { account_id, collection_id }: Doomed): Promise<number> {
  const id = [account_id, collection_id];
  await tx.query(lockById, id);
  const { rows } = await tx.query<{ version: bigint }>(removeTold, [...id, TOLD_FOR_SECONDS, ROWS_PER_TRANSACTION]);
  const last = rows.reduce((latest, { version }) => (version > latest ? version : latest), 0n);
  if (rows.length > 0) await tx.query(forget, [...id, last]);
  return rows.length;
}
