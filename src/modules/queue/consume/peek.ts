// Peek: the next messages in delivery order, or the newest, without a lease.
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { MessageRow, QueueRow } from '../queues/records.ts';

export interface PeekedRow extends MessageRow {
  readonly visible_at: number;
}

const selectNext = statement(
  'peek_select',
  `SELECT l.*
     FROM generate_series(0, 10) AS bands(band)
    CROSS JOIN LATERAL (
          SELECT m.seq, m.visible_at, m.delivery_count, m.priority, m.group_id, m.deduplication_id, m.headers, m.payload
            FROM queue.message m
           WHERE m.account_id = $1 AND m.queue_id = $2 AND m.band = bands.band AND m.visible_at <= core.clock_now()
             AND coalesce(m.retain_from, to_timestamp(((m.seq >> 22) + 1704067200000) / 1000.0)) > core.clock_now() - $4::bigint * interval '1 millisecond'
           ORDER BY m.visible_at, m.seq
           LIMIT $3) l
    LIMIT $3`,
);

// What a consumer would get of each group that is not blocked: its messages up to the first delayed one.
const selectNextFifo = statement(
  'peek_select_fifo',
  `SELECT l.*
     FROM (SELECT g.group_id, g.ready_at, g.head_seq
             FROM queue.fifo_group g
            WHERE g.account_id = $1 AND g.queue_id = $2 AND g.ready_at <= core.clock_now() AND g.in_flight = '{}'
            ORDER BY g.ready_at, g.head_seq
            LIMIT $3) ready
    CROSS JOIN LATERAL (
          SELECT h.*
            FROM (SELECT m.seq, m.visible_at, m.delivery_count, m.priority, m.group_id, m.deduplication_id, m.headers, m.payload,
                         bool_or(m.visible_at > core.clock_now()) OVER (ORDER BY m.seq) AS held
                    FROM (SELECT * FROM queue.message n
                           WHERE n.account_id = $1 AND n.queue_id = $2 AND n.group_id = ready.group_id
                           ORDER BY n.seq
                           LIMIT $3) m) h
           WHERE NOT h.held) l
    ORDER BY ready.ready_at, ready.head_seq, l.seq
    LIMIT $3`,
);

/** A queue whose last messages are all leased or delayed is looked through so far. */
const NEWEST_SCANNED_MAX = 1_000;

// By the primary key, backwards.
const selectNewest = statement(
  'peek_select_newest',
  `SELECT m.seq, m.visible_at, m.delivery_count, m.priority, m.group_id, m.deduplication_id, m.headers, m.payload
     FROM (SELECT * FROM queue.message n
            WHERE n.account_id = $1 AND n.queue_id = $2
            ORDER BY n.seq DESC
            LIMIT ${NEWEST_SCANNED_MAX}) m
    WHERE m.visible_at <= core.clock_now()
      AND coalesce(m.retain_from, to_timestamp(((m.seq >> 22) + 1704067200000) / 1000.0)) > core.clock_now() - $4::bigint * interval '1 millisecond'
    ORDER BY m.seq DESC
    LIMIT $3`,
);

/** The newest first. The caller has done what time decided (catchUpQueue). */
export async function peekNewest(db: Queryable, queue: QueueRow, limit: number): Promise<PeekedRow[]> {
  const { account_id, queue_id, retention_seconds } = queue;
  return (await db.query<PeekedRow>(selectNewest, [account_id, queue_id, limit, retention_seconds * 1000])).rows;
}

/** The caller has done what time decided (catchUpQueue). */
export async function peekMessages(db: Queryable, queue: QueueRow, limit: number): Promise<PeekedRow[]> {
  const id = [queue.account_id, queue.queue_id, limit];
  const { rows } = await (queue.type === 'fifo'
    ? db.query<PeekedRow>(selectNextFifo, id)
    : db.query<PeekedRow>(selectNext, [...id, queue.retention_seconds * 1000]));
  return rows;
}
