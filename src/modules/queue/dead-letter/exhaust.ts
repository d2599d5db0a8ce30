// Effect of a changed max_receive_count or dead-letter queue on messages that were already delivered.
import { clockNow } from '../../../core/database-clock.ts';
import { int8Array } from '../../../db/arrays.ts';
import type { Database, Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { lockGroupsOf, refreshGroups } from '../fifo/store.ts';
import { LAST_LEASE_BAND } from '../limits.ts';
import type { MessageIds } from '../messages/message-id.ts';
import { type LockedMessage, lockMessages } from '../messages/store.ts';
import type { QueueRow } from '../queues/records.ts';
import { holdQueueById, type QueueSettings } from '../queues/store.ts';
import { deadLetter, isExhausted } from './dead-letter.ts';

const CHUNK = 500;

const selectExhausted = statement(
  'exhaust_select',
  `SELECT m.seq
     FROM queue.message m
    WHERE m.account_id = $1 AND m.queue_id = $2 AND m.seq > $3 AND m.delivery_count - m.delivery_base >= $4
    ORDER BY m.seq
    LIMIT $5`,
);
const markLastLease = statement(
  'exhaust_mark_last_lease',
  `UPDATE queue.message SET band = ${LAST_LEASE_BAND} WHERE account_id = $1 AND queue_id = $2 AND seq = ANY($3::bigint[])`,
);
const unmarkLastLease = statement(
  'exhaust_unmark_last_lease',
  `UPDATE queue.message SET band = home_band
    WHERE account_id = $1 AND queue_id = $2 AND band = ${LAST_LEASE_BAND} AND ($3::int IS NULL OR delivery_count - delivery_base < $3)`,
);

/** Whether the change lets fewer deliveries happen than before. */
export function isStricter(before: QueueSettings, after: QueueSettings): boolean {
  if (after.dlq_id === null) return false;
  return before.dlq_id === null || after.max_receive_count < before.max_receive_count;
}

/** In the transaction of the change: leases that were the last ones and are not any more. */
export async function allowMoreDeliveries(tx: Queryable, queue: QueueRow, after: QueueSettings): Promise<void> {
  await tx.query(unmarkLastLease, [
    queue.account_id,
    queue.queue_id,
    after.dlq_id === null ? null : after.max_receive_count,
  ]);
}

/**
 * After a stricter change: messages that have had their deliveries go to the dead-letter queue, those in flight when their lease
 * ends. In bounded transactions; if the process dies meanwhile, the next claim that meets such a message does it.
 */
export async function retireExhausted(
  db: Database,
  ids: MessageIds,
  queueId: bigint,
  accountId: string,
): Promise<void> {
  let after = 0n;
  for (;;) {
    const last = await db.transaction((tx) => retireChunk(tx, ids, { accountId, queueId, after }), accountId);
    if (last === null) return;
    after = last;
  }
}

/** Answers the last message looked at, null at the end. */
async function retireChunk(
  tx: Transaction,
  ids: MessageIds,
  { accountId, queueId, after }: { accountId: string; queueId: bigint; after: bigint },
): Promise<bigint | null> {
  const queue = await holdQueueById(tx, accountId, queueId);
  if (queue === null || queue.dlq_id === null) return null;
  const found = await tx.query<{ seq: bigint }>(selectExhausted, [
    accountId,
    queueId,
    after,
    queue.max_receive_count,
    CHUNK,
  ]);
  const seqs = found.rows.map((row) => row.seq);
  if (seqs.length === 0) return null;
  const groups = queue.type === 'fifo' ? await lockGroupsOf(tx, accountId, queueId, seqs) : [];
  const spent = (await lockMessages(tx, accountId, queueId, seqs)).filter((message) => isExhausted(queue, message));
  const nowMs = await clockNow(tx);
  // FIFO leases that ended are returned group by group, with what they take along.
  const isOut = (message: LockedMessage) => message.leased && (queue.type === 'fifo' || message.visible_at > nowMs);
  const running = spent.filter(isOut).map((message) => message.seq);
  if (queue.type === 'standard' && running.length > 0)
    await tx.query(markLastLease, [accountId, queueId, int8Array(running)]);
  await deadLetter(
    tx,
    { ids, queue, nowMs, requestId: null },
    spent.filter((message) => !isOut(message)),
  );
  await refreshGroups(tx, accountId, queueId, groups);
  return seqs.length < CHUNK ? null : (seqs.at(-1) as bigint);
}
