// Exact statistics of a queue at one moment: due lease ends and retention are applied first, then everything is read in one snapshot.

import { clockNow } from '../../../core/database-clock.ts';
import { int8Array } from '../../../db/arrays.ts';
import type { Database, Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { sequenceMs } from '../../../lib/sequence.ts';
import { deadLetter, isExhausted } from '../dead-letter/dead-letter.ts';
import { returnLapsedGroups } from '../fifo/consume.ts';
import type { MessageIds } from '../messages/message-id.ts';
import { removeOverdue } from '../messages/retention.ts';
import { endLeases, lockLapsedMessages } from '../messages/store.ts';
import type { QueueRow } from './records.ts';
import { holdQueueById } from './store.ts';

export interface QueueStats {
  readonly queue: string;
  readonly message_count: number;
  readonly available_count: number;
  readonly in_flight_count: number;
  readonly delayed_count: number;
  readonly dlq_count: number;
  readonly oldest_message_age_seconds: number;
}

const CHUNK = 500;

// live and dead come from the totals and the changes not folded yet; only leased and delayed messages are counted one by one,
// along the index of what is not visible yet. Dead messages in a former dead-letter queue that was deleted are gone, removed or not.
const selectCounts = statement(
  'stats_select',
  `SELECT coalesce((SELECT t.live FROM queue.total t WHERE t.account_id = $1 AND t.queue_id = $2), 0)
          + coalesce((SELECT sum(d.live) FROM queue.delta d WHERE d.account_id = $1 AND d.queue_id = $2), 0) AS live,
          coalesce((SELECT t.dead FROM queue.total t WHERE t.account_id = $1 AND t.queue_id = $2), 0)
          + coalesce((SELECT sum(d.dead) FROM queue.delta d WHERE d.account_id = $1 AND d.queue_id = $2), 0)
          - (SELECT count(*) FROM queue.tombstone t, queue.message m
              WHERE t.account_id = $1 AND m.account_id = $1 AND m.queue_id = t.queue_id AND m.source_queue_id = $2) AS dead,
          (SELECT m.seq FROM queue.message m WHERE m.account_id = $1 AND m.queue_id = $2 ORDER BY m.seq LIMIT 1) AS oldest_seq,
          f.in_flight, f.delayed, core.clock_now() AS now
     FROM (SELECT count(*) FILTER (WHERE m.leased) AS in_flight, count(*) FILTER (WHERE NOT m.leased) AS delayed
             FROM queue.message m
            WHERE m.account_id = $1 AND m.queue_id = $2 AND m.band = ANY('{0,1,2,3,4,5,6,7,8,9,10,127}'::smallint[])
              AND m.visible_at > core.clock_now()) f`,
);

// Whether time has decided anything: usually it has not, and nothing needs to be locked. $2: a queue and its dead-letter queue.
const selectDue = statement(
  'queue_select_due',
  `SELECT q.queue_id
     FROM queue.queue q
    WHERE q.account_id = $1 AND q.queue_id = ANY($2::bigint[])
      AND (EXISTS (SELECT 1 FROM queue.message m
                    WHERE m.account_id = $1 AND m.queue_id = q.queue_id
                      AND m.seq <= ((extract(epoch FROM core.clock_now()) * 1000)::bigint - 1704067200000 - coalesce(q.retention_seconds, q.message_retention_days * 86400) * 1000::bigint) << 22
                      AND (m.retain_from IS NULL OR m.retain_from <= core.clock_now() - coalesce(q.retention_seconds, q.message_retention_days * 86400) * interval '1 second'))
        OR EXISTS (SELECT 1 FROM queue.message m
                    WHERE m.account_id = $1 AND m.queue_id = q.queue_id AND m.band = 127 AND m.visible_at <= core.clock_now())
        OR EXISTS (SELECT 1 FROM queue.fifo_group g
                    WHERE g.account_id = $1 AND g.queue_id = q.queue_id AND g.ready_at <= core.clock_now() AND g.in_flight <> '{}'))`,
);

interface CountsRow {
  readonly live: bigint;
  readonly dead: bigint;
  readonly oldest_seq: bigint | null;
  readonly in_flight: bigint;
  readonly delayed: bigint;
  readonly now: number;
}

export async function readStats(db: Database, ids: MessageIds, queue: QueueRow): Promise<QueueStats> {
  await catchUpWithDlq(db, ids, queue);
  return selectStats(db.hot, queue);
}

/** Also what time has decided about the messages of the queue that are in its dead-letter queue, or in earlier ones. */
export async function catchUpWithDlq(db: Database, ids: MessageIds, queue: QueueRow): Promise<void> {
  await catchUpDue(db, ids, queue.account_id, [
    ...new Set([queue.queue_id, ...(queue.dlq_id === null ? [] : [queue.dlq_id]), ...queue.former_dlq_ids]),
  ]);
}

async function selectStats(db: Queryable, queue: QueueRow): Promise<QueueStats> {
  const { rows } = await db.query<CountsRow>(selectCounts, [queue.account_id, queue.queue_id]);
  const row = rows[0] as CountsRow;
  const [live, inFlight, delayed] = [Number(row.live), Number(row.in_flight), Number(row.delayed)];
  const ageMs = row.oldest_seq === null ? 0 : row.now - sequenceMs(row.oldest_seq);
  const available = live - inFlight - delayed;
  return {
    queue: queue.name,
    message_count: available + inFlight,
    available_count: available,
    in_flight_count: inFlight,
    delayed_count: delayed,
    dlq_count: Number(row.dead),
    oldest_message_age_seconds: Math.max(0, Math.floor(ageMs / 1000)),
  };
}

/** Applies everything that time alone has decided: last leases that ended, retention that is over. In bounded transactions. */
export async function catchUpQueue(db: Database, ids: MessageIds, queue: QueueRow): Promise<void> {
  await catchUpDue(db, ids, queue.account_id, [queue.queue_id]);
}

async function catchUpDue(db: Database, ids: MessageIds, accountId: string, queueIds: bigint[]): Promise<void> {
  const { rows } = await db.hot.query<{ queue_id: bigint }>(selectDue, [accountId, int8Array(queueIds)]);
  const due = new Set(rows.map((row) => row.queue_id));
  for (const queueId of queueIds.filter((id) => due.has(id))) {
    while (await db.transaction((tx) => catchUpChunk(tx, ids, accountId, queueId), accountId)) {
      // each chunk is a transaction of its own
    }
  }
}

/** Answers whether there may be more. */
export async function catchUpChunk(
  tx: Transaction,
  ids: MessageIds,
  accountId: string,
  queueId: bigint,
): Promise<boolean> {
  const held = await holdQueueById(tx, accountId, queueId);
  if (held === null) return false;
  const overdue = await removeOverdue(tx, held, CHUNK);
  const lapsed =
    held.type === 'fifo' ? await returnLapsedGroups(tx, ids, held, CHUNK) : await returnLapsedLeases(tx, ids, held);
  return overdue || lapsed;
}

async function returnLapsedLeases(tx: Transaction, ids: MessageIds, queue: QueueRow): Promise<boolean> {
  const lapsed = await lockLapsedMessages(tx, queue.account_id, queue.queue_id, CHUNK);
  if (lapsed.length === 0) return false;
  const nowMs = await clockNow(tx);
  const dead = lapsed.filter((message) => isExhausted(queue, message));
  // The limit was raised or the dead-letter queue removed since: they go on.
  const back = lapsed.filter((message) => !isExhausted(queue, message));
  await deadLetter(tx, { ids, queue, nowMs, requestId: null }, dead);
  await endLeases(
    tx,
    queue.account_id,
    queue.queue_id,
    back.map((message) => message.seq),
  );
  return lapsed.length === CHUNK;
}
