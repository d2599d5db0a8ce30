// Retention counts from publishing, in a dead-letter queue from dead-lettering, after a redrive from the redrive. Expired messages are deleted
// in bounded chunks, oldest first along the primary key: the sequence number holds the time of publishing.
import { int8Array } from '../../../db/arrays.ts';
import type { Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { sequenceMs } from '../../../lib/sequence.ts';
import { lockGroupsOf, refreshGroups } from '../fifo/store.ts';
import { CountChanges } from '../queues/counts.ts';
import type { QueueRow } from '../queues/records.ts';

const selectOverdue = statement(
  'retention_select',
  `SELECT m.seq
     FROM queue.message m
    WHERE m.account_id = $1 AND m.queue_id = $2
      AND m.seq <= (SELECT ((extract(epoch FROM core.clock_now()) * 1000)::bigint - 1704067200000 - $3::bigint) << 22)
      AND (m.retain_from IS NULL OR m.retain_from <= core.clock_now() - $3::bigint * interval '1 millisecond')
    ORDER BY m.seq
    LIMIT $4`,
);
// What is gone by now (acked, purged, redriven) is not counted: only rows deleted here are.
const removeMessages = statement(
  'retention_remove',
  `DELETE FROM queue.message m
    WHERE m.account_id = $1 AND m.queue_id = $2 AND m.seq = ANY($3::bigint[])
   RETURNING m.source_queue_id`,
);

/** When the retention of a message began (Unix ms). */
export function retainedSinceMs(message: { seq: bigint; retain_from?: number | null }): number {
  return message.retain_from ?? sequenceMs(message.seq);
}

/** Deletes up to `limit` messages past retention. Answers whether there may be more. */
export async function removeOverdue(tx: Transaction, queue: QueueRow, limit: number): Promise<boolean> {
  const { account_id: accountId, queue_id: queueId } = queue;
  const { rows } = await tx.query<{ seq: bigint }>(selectOverdue, [
    accountId,
    queueId,
    queue.retention_seconds * 1000,
    limit,
  ]);
  if (rows.length === 0) return false;
  const seqs = rows.map((row) => row.seq);
  // Groups before messages: everybody locks in this order.
  const groups = queue.type === 'fifo' ? await lockGroupsOf(tx, accountId, queueId, seqs) : [];
  await removeSeqs(tx, queue, seqs);
  await refreshGroups(tx, accountId, queueId, groups);
  return rows.length === limit;
}

/** Deletes messages past retention whose groups the caller has locked and will refresh. */
export async function removeRetained(
  tx: Transaction,
  queue: QueueRow,
  messages: readonly { readonly seq: bigint }[],
): Promise<void> {
  if (messages.length === 0) return;
  await removeSeqs(
    tx,
    queue,
    messages.map((message) => message.seq),
  );
}

async function removeSeqs(tx: Transaction, queue: QueueRow, seqs: bigint[]): Promise<void> {
  const { account_id: accountId, queue_id: queueId } = queue;
  const { rows } = await tx.query<{ source_queue_id: bigint | null }>(removeMessages, [
    accountId,
    queueId,
    int8Array(seqs),
  ]);
  const counts = new CountChanges();
  counts.add(accountId, queueId, { live: -rows.length });
  for (const { source_queue_id } of rows)
    if (source_queue_id !== null) counts.add(accountId, source_queue_id, { dead: -1 });
  counts.send(tx);
}
