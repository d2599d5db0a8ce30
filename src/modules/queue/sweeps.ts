// Background sweeps of queues. Each finds queues with work by a fan-out read, then runs one transaction per queue.

import type { Sweep } from '../../core/background/sweeper/sweep.ts';
import { removeOldRows } from '../../core/background/sweeper/sweep.ts';
import { clockNow } from '../../core/database-clock.ts';
import { int8Array, textArray } from '../../db/arrays.ts';
import type { Database, Transaction } from '../../db/database.ts';
import { type Statement, statement } from '../../db/statement.ts';
import { MINUTE_MS } from '../../lib/time.ts';
import { advanceRedrive } from './dead-letter/redrive.ts';
import { CountChanges, foldCounts } from './queues/counts.ts';
import { catchUpQueue } from './queues/stats.ts';
import { findQueueById } from './queues/store.ts';
import { dropOldSamples, takeSamples } from './samples/take.ts';
import { type QueueState, queueKey } from './state.ts';

const QUEUES_PER_RUN = 200;
const ROWS_PER_CHUNK = 1_000;
const FOLD_FROM = 32;

const findFoldable = statement(
  'sweep_find_foldable',
  `/* fan-out: queues with changes to fold */
   SELECT d.account_id, d.queue_id FROM queue.delta d GROUP BY d.account_id, d.queue_id HAVING count(*) >= $1 LIMIT $2`,
);
const findLapsed = statement(
  'sweep_find_lapsed',
  `/* fan-out: queues with a last lease that has ended */
   SELECT q.account_id, q.queue_id
     FROM queue.queue q
    WHERE EXISTS (SELECT 1 FROM queue.message m
                   WHERE m.account_id = q.account_id AND m.queue_id = q.queue_id AND m.band = 127 AND m.visible_at <= core.clock_now())
       OR (q.type = 'fifo' AND q.dlq_id IS NOT NULL
           AND EXISTS (SELECT 1 FROM queue.fifo_group g
                        WHERE g.account_id = q.account_id AND g.queue_id = q.queue_id AND g.ready_at <= core.clock_now() AND g.in_flight <> '{}'))
    LIMIT $1`,
);
const findOverdue = statement(
  'sweep_find_overdue',
  `/* fan-out: queues whose oldest message is past retention */
   SELECT q.account_id, q.queue_id
     FROM queue.queue q
    WHERE EXISTS (SELECT 1 FROM queue.message m
                   WHERE m.account_id = q.account_id AND m.queue_id = q.queue_id
                     AND m.seq <= ((extract(epoch FROM core.clock_now()) * 1000)::bigint - 1704067200000 - coalesce(q.retention_seconds, q.message_retention_days * 86400) * 1000::bigint) << 22
                     AND (m.retain_from IS NULL OR m.retain_from <= core.clock_now() - coalesce(q.retention_seconds, q.message_retention_days * 86400) * interval '1 second'))
    LIMIT $1`,
);
const findRedrives = statement(
  'sweep_find_redrives',
  `/* fan-out: running redrives */
   SELECT r.account_id, r.redrive_id FROM queue.redrive r WHERE r.state = 'running' ORDER BY r.created_at LIMIT $1`,
);
const findTombstones = statement(
  'sweep_find_tombstones',
  `/* fan-out: deleted queues */ SELECT t.account_id, t.queue_id FROM queue.tombstone t LIMIT $1`,
);
// Waits for rows that others hold: none may stay behind.
const removeDeadMessages = statement(
  'sweep_remove_messages',
  `WITH c AS MATERIALIZED (
     SELECT m.seq FROM queue.message m WHERE m.account_id = $1 AND m.queue_id = $2 ORDER BY m.seq LIMIT $3 FOR UPDATE)
   DELETE FROM queue.message t USING c WHERE t.account_id = $1 AND t.queue_id = $2 AND t.seq = c.seq
   RETURNING t.source_queue_id`,
);
// Messages of the deleted queue that lie in a dead-letter queue stay there, as messages of their own.
const disownDeadMessages = statement(
  'sweep_disown_messages',
  `WITH c AS MATERIALIZED (
     SELECT m.queue_id, m.seq FROM queue.message m WHERE m.account_id = $1 AND m.source_queue_id = $2 ORDER BY m.seq LIMIT $3 FOR UPDATE)
   UPDATE queue.message t SET source_queue_id = NULL FROM c WHERE t.account_id = $1 AND t.queue_id = c.queue_id AND t.seq = c.seq`,
);
const removeRest: readonly Statement[] = [
  statement('sweep_remove_deltas', 'DELETE FROM queue.delta WHERE account_id = $1 AND queue_id = $2'),
  statement('sweep_remove_total', 'DELETE FROM queue.total WHERE account_id = $1 AND queue_id = $2'),
  statement('sweep_remove_groups', 'DELETE FROM queue.fifo_group WHERE account_id = $1 AND queue_id = $2'),
  statement('sweep_remove_dedup', 'DELETE FROM queue.dedup WHERE account_id = $1 AND queue_id = $2'),
  statement('sweep_remove_redrives', 'DELETE FROM queue.redrive WHERE account_id = $1 AND queue_id = $2'),
  statement('sweep_remove_tombstone', 'DELETE FROM queue.tombstone WHERE account_id = $1 AND queue_id = $2'),
];
const findExpiredDedup = statement(
  'sweep_find_dedup',
  `/* fan-out: deduplication records that are over */
   SELECT d.account_id, d.queue_id, d.deduplication_id FROM queue.dedup d
    WHERE d.expires_at <= core.clock_now() ORDER BY d.expires_at LIMIT $1`,
);
// A record made anew since it was found is not over.
const removeExpiredDedup = statement(
  'sweep_remove_expired_dedup',
  `DELETE FROM queue.dedup t USING unnest($2::bigint[], $3::text[]) u(queue_id, deduplication_id)
    WHERE t.account_id = $1 AND t.queue_id = u.queue_id AND t.deduplication_id = u.deduplication_id AND t.expires_at <= core.clock_now()`,
);

interface QueueRef {
  readonly account_id: string;
  readonly queue_id: bigint;
}

export function queueSweeps(state: QueueState): readonly Sweep[] {
  const { db } = state.core;
  return [
    { name: 'queue.fold_counts', intervalMs: 500, run: () => fold(db) },
    { name: 'queue.dead_letter', intervalMs: 1_000, run: () => catchUp(state, findLapsed) },
    { name: 'queue.retention', intervalMs: 30_000, run: () => catchUp(state, findOverdue) },
    { name: 'queue.redrive', intervalMs: 200, run: () => redrive(state) },
    { name: 'queue.deleted', intervalMs: 2_000, run: (signal) => bury(db, signal) },
    { name: 'queue.dedup', intervalMs: 15_000, run: forgetDuplicates(db) },
    { name: 'queue.samples', intervalMs: 5_000, run: sampleOnce(db) },
    { name: 'queue.sample_retention', intervalMs: 60_000, run: async () => dropOldSamples(db, await clockNow(db)) },
  ];
}

/** Once a minute, as soon as it is over. */
function sampleOnce(db: Database): Sweep['run'] {
  let doneMinute = 0;
  return async () => {
    const nowMs = await clockNow(db);
    const minute = Math.floor(nowMs / MINUTE_MS);
    if (minute === doneMinute) return false;
    if (await takeSamples(db, nowMs)) return true;
    doneMinute = minute;
    return false;
  };
}

async function fold(db: Database): Promise<boolean> {
  const { rows } = await db.query<QueueRef>(findFoldable, [FOLD_FROM, QUEUES_PER_RUN]);
  for (const row of rows) await foldCounts(db, row.account_id, row.queue_id);
  return rows.length === QUEUES_PER_RUN;
}

async function catchUp(state: QueueState, find: Statement): Promise<boolean> {
  const { db } = state.core;
  const { rows } = await db.query<QueueRef>(find, [QUEUES_PER_RUN]);
  await forEach(rows, async (row) => {
    const queue = await findQueueById(db, row.account_id, row.queue_id);
    if (queue !== null) await catchUpQueue(db, state.ids, queue);
  });
  return rows.length === QUEUES_PER_RUN;
}

async function redrive(state: QueueState): Promise<boolean> {
  const { rows } = await state.core.db.query<{ account_id: string; redrive_id: string }>(findRedrives, [
    QUEUES_PER_RUN,
  ]);
  await forEach(rows, (row) =>
    advanceRedrive(state.core.db, row.account_id, row.redrive_id, (queue, messages) =>
      state.waiters.wake(queueKey(row.account_id, queue), messages),
    ),
  );
  return false;
}

/** Every row gets its turn: one queue that cannot be worked on now must not stop the others. The first failure is reported. */
async function forEach<T>(rows: readonly T[], work: (row: T) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (const row of rows) await work(row).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Removes what deleted queues left behind. */
async function bury(db: Database, signal: AbortSignal): Promise<boolean> {
  const { rows } = await db.query<QueueRef>(findTombstones, [QUEUES_PER_RUN]);
  for (const row of rows) {
    const id = [row.account_id, row.queue_id];
    while (!signal.aborted && (await db.transaction((tx) => removeSome(tx, row))) > 0) {
      // each chunk is a transaction of its own
    }
    while (!signal.aborted && (await db.query(disownDeadMessages, [...id, ROWS_PER_CHUNK])).count > 0) {
      // each chunk is a transaction of its own
    }
    if (signal.aborted) return false;
    for (const remove of removeRest) await db.query(remove, id);
  }
  return rows.length === QUEUES_PER_RUN;
}

async function removeSome(tx: Transaction, { account_id, queue_id }: QueueRef): Promise<number> {
  const { rows } = await tx.query<{ source_queue_id: bigint | null }>(removeDeadMessages, [
    account_id,
    queue_id,
    ROWS_PER_CHUNK,
  ]);
  const counts = new CountChanges();
  for (const { source_queue_id } of rows)
    if (source_queue_id !== null) counts.add(account_id, source_queue_id, { dead: -1 });
  counts.send(tx);
  return rows.length;
}

function forgetDuplicates(db: Database): Sweep['run'] {
  return removeOldRows<QueueRef & { readonly deduplication_id: string }>(db, {
    find: findExpiredDedup,
    remove: removeExpiredDedup,
    keys: (rows) => [
      int8Array(rows.map(({ queue_id }) => queue_id)),
      textArray(rows.map(({ deduplication_id }) => deduplication_id)),
    ],
  });
}
