// SQL that moves messages between their states, apart from the hot claim and ack.

import { int4Array, int8Array } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { EVENT_PAYLOAD_BYTES_MAX } from '../limits.ts';

/** What the rules of nack, expiry and dead-lettering look at. */
export interface LockedMessage {
  readonly seq: bigint;
  readonly visible_at: number;
  readonly leased: boolean;
  readonly attempt: number;
  readonly delivery_count: number;
  readonly delivery_base: number;
  readonly priority: number;
  readonly source_queue_id: bigint | null;
  readonly group_id: string | null;
  readonly deduplication_id: string | null;
  /** As the latest nack that gave one said. */
  readonly reason: string | null;
}

export const lockedColumns = `m.seq, m.visible_at, m.leased, m.attempt, m.delivery_count, m.delivery_base, m.priority, m.source_queue_id,
          m.group_id, m.deduplication_id, m.reason`;
const lockBySeq = statement(
  'message_lock_by_seq',
  `SELECT ${lockedColumns} FROM queue.message m WHERE m.account_id = $1 AND m.queue_id = $2 AND m.seq = ANY($3::bigint[]) ORDER BY m.seq FOR UPDATE`,
);
// Waits for rows that others hold: an exact answer must know how they end.
const lockLapsed = statement(
  'message_lock_lapsed',
  `WITH c AS MATERIALIZED (
     SELECT ${lockedColumns}
       FROM queue.message m
      WHERE m.account_id = $1 AND m.queue_id = $2 AND m.band = 127 AND m.visible_at <= core.clock_now()
      ORDER BY m.visible_at, m.seq
      LIMIT $3
        FOR UPDATE)
   SELECT c.* FROM c ORDER BY c.seq`,
);
const makeAvailable = statement(
  'message_make_available',
  `UPDATE queue.message SET leased = false, attempt = attempt + 1, band = home_band, visible_at = $4
    WHERE account_id = $1 AND queue_id = $2 AND seq = ANY($3::bigint[])`,
);
// A lease that ended without a dead-letter queue to go to: available again since it ended.
const endLastLease = statement(
  'message_end_last_lease',
  `UPDATE queue.message SET leased = false, attempt = attempt + 1, band = home_band
    WHERE account_id = $1 AND queue_id = $2 AND seq = ANY($3::bigint[])`,
);
// The claim counted a delivery that never reached a consumer.
const takeBackClaim = statement(
  'message_take_back_claim',
  `UPDATE queue.message m
      SET leased = false, attempt = m.attempt + 1, band = m.home_band, visible_at = $5, delivery_count = m.delivery_count - 1
     FROM unnest($3::bigint[], $4::int[]) u(seq, attempt)
    WHERE m.account_id = $1 AND m.queue_id = $2 AND m.seq = u.seq AND m.leased AND m.attempt = u.attempt
   RETURNING ${lockedColumns}`,
);
// The size is known without reading the payload: a long one is not read.
const moveToDlq = statement(
  'message_move_to_dlq',
  `UPDATE queue.message
      SET queue_id = $4, source_queue_id = $2, retain_from = $5, visible_at = $5, leased = false, attempt = attempt + 1,
          delivery_base = delivery_count,
          band = CASE WHEN $6 THEN 10 - priority ELSE 10 END, home_band = CASE WHEN $6 THEN 10 - priority ELSE 10 END
    WHERE account_id = $1 AND queue_id = $2 AND seq = ANY($3::bigint[])
   RETURNING seq, CASE WHEN octet_length(payload) <= ${EVENT_PAYLOAD_BYTES_MAX} THEN payload END AS payload`,
);
const moveBack = statement(
  'message_move_back',
  `UPDATE queue.message
      SET queue_id = $4, source_queue_id = NULL, retain_from = $5, visible_at = $5, leased = false, attempt = attempt + 1,
          delivery_count = 0, delivery_base = 0, reason = NULL,
          band = CASE WHEN $6 THEN 10 - priority ELSE 10 END, home_band = CASE WHEN $6 THEN 10 - priority ELSE 10 END
    WHERE account_id = $1 AND queue_id = $2 AND seq = ANY($3::bigint[])`,
);
const noteReasonBySeq = statement(
  'message_note_reason',
  `UPDATE queue.message SET reason = $4 WHERE account_id = $1 AND queue_id = $2 AND seq = ANY($3::bigint[])`,
);
const removeBySeq = statement(
  'message_remove',
  `DELETE FROM queue.message WHERE account_id = $1 AND queue_id = $2 AND seq = ANY($3::bigint[])`,
);

export async function lockMessages(
  tx: Queryable,
  accountId: string,
  queueId: bigint,
  seqs: readonly bigint[],
): Promise<LockedMessage[]> {
  return (await tx.query<LockedMessage>(lockBySeq, [accountId, queueId, int8Array([...seqs])])).rows;
}

/** Messages whose last allowed lease has ended. */
export async function lockLapsedMessages(
  tx: Queryable,
  accountId: string,
  queueId: bigint,
  limit: number,
): Promise<LockedMessage[]> {
  return (await tx.query<LockedMessage>(lockLapsed, [accountId, queueId, limit])).rows;
}

/** Back to available at `visibleMs`; their receipts die. */
export async function returnMessages(
  tx: Queryable,
  accountId: string,
  queueId: bigint,
  seqs: readonly bigint[],
  visibleMs: number,
): Promise<void> {
  if (seqs.length > 0) await tx.query(makeAvailable, [accountId, queueId, int8Array([...seqs]), timestamp(visibleMs)]);
}

/** Keeps why messages were given back; they are locked. */
export async function noteReason(
  tx: Queryable,
  accountId: string,
  queueId: bigint,
  seqs: readonly bigint[],
  reason: string,
): Promise<void> {
  if (seqs.length > 0) await tx.query(noteReasonBySeq, [accountId, queueId, int8Array([...seqs]), reason]);
}

export async function endLeases(
  tx: Queryable,
  accountId: string,
  queueId: bigint,
  seqs: readonly bigint[],
): Promise<void> {
  if (seqs.length > 0) await tx.query(endLastLease, [accountId, queueId, int8Array([...seqs])]);
}

export interface Move {
  readonly accountId: string;
  readonly fromQueueId: bigint;
  readonly toQueueId: bigint;
  readonly toEnablesPriority: boolean;
  readonly nowMs: number;
}

/** Answers the payloads by seq, as an event may carry them: null for one that is longer. */
export async function moveMessagesToDlq(
  tx: Queryable,
  move: Move,
  seqs: readonly bigint[],
): Promise<ReadonlyMap<bigint, string | null>> {
  const { rows } = await tx.query<{ seq: bigint; payload: string | null }>(moveToDlq, [
    move.accountId,
    move.fromQueueId,
    int8Array([...seqs]),
    move.toQueueId,
    timestamp(move.nowMs),
    move.toEnablesPriority,
  ]);
  return new Map(rows.map(({ seq, payload }) => [seq, payload]));
}

export async function moveMessagesBack(tx: Queryable, move: Move, seqs: readonly bigint[]): Promise<void> {
  await tx.query(moveBack, [
    move.accountId,
    move.fromQueueId,
    int8Array([...seqs]),
    move.toQueueId,
    timestamp(move.nowMs),
    move.toEnablesPriority,
  ]);
}

export async function removeMessages(
  tx: Queryable,
  accountId: string,
  queueId: bigint,
  seqs: readonly bigint[],
): Promise<void> {
  if (seqs.length > 0) await tx.query(removeBySeq, [accountId, queueId, int8Array([...seqs])]);
}

/** Takes back claims that reached no consumer (by seq, with their attempts): available again, not counted as delivered. Locked. */
export async function undeliver(
  tx: Queryable,
  queue: { account_id: string; queue_id: bigint },
  attempts: ReadonlyMap<bigint, number>,
  availableMs: number,
): Promise<LockedMessage[]> {
  const { rows } = await tx.query<LockedMessage>(takeBackClaim, [
    queue.account_id,
    queue.queue_id,
    int8Array([...attempts.keys()]),
    int4Array([...attempts.values()]),
    timestamp(availableMs),
  ]);
  return rows;
}
