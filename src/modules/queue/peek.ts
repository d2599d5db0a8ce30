// The next messages without leasing them, in the order of delivery.
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { DAY_MS } from '../../lib/time.ts';
import type { MessageRow, QueueRow } from './records.ts';

export interface PeekedRow extends MessageRow {
  readonly visible_at: number;
}

const selectNext = statement(
  'peek_select',
  `SELECT l.*
     FROM generate_series(0, 10) AS lanes(lane)
    CROSS JOIN LATERAL (
          SELECT m.seq, m.visible_at, m.delivery_count, m.priority, m.group_id, m.deduplication_id, m.headers, m.payload
            FROM queue.message m
           WHERE m.account_id = $1 AND m.queue_id = $2 AND m.lane = lanes.lane AND m.visible_at <= core.clock_now()
             AND coalesce(m.retain_from, to_timestamp(((m.seq >> 22) + 1704067200000) / 1000.0)) > core.clock_now() - $4::bigint * interval '1 millisecond'
           ORDER BY m.visible_at, m.seq
           LIMIT $3) l
    LIMIT $3`,
);

export async function peekMessages(db: Queryable, queue: QueueRow, limit: number): Promise<PeekedRow[]> {
  const { rows } = await db.query<PeekedRow>(selectNext, [
    queue.account_id,
    queue.queue_id,
    limit,
    queue.message_retention_days * DAY_MS,
  ]);
  return rows;
}
