// Purge: one DELETE. A concurrent ack either gets its message or finds it gone, and the count is exact.
import type { Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { CountChanges } from './counts.ts';
import type { QueueRow } from './records.ts';

// Groups first: who holds one may still be changing its messages.
const lockGroups = statement(
  'purge_lock_groups',
  `SELECT g.group_id FROM queue.fifo_group g WHERE g.account_id = $1 AND g.queue_id = $2 ORDER BY g.group_id FOR UPDATE`,
);
const removeMessages = statement(
  'purge_messages',
  `WITH d AS (DELETE FROM queue.message m WHERE m.account_id = $1 AND m.queue_id = $2 RETURNING m.source_queue_id)
   SELECT d.source_queue_id, count(*) AS messages FROM d GROUP BY d.source_queue_id`,
);
const removeEmptyGroups = statement(
  'purge_groups',
  `DELETE FROM queue.fifo_group g
    WHERE g.account_id = $1 AND g.queue_id = $2
      AND NOT EXISTS (SELECT 1 FROM queue.message m WHERE m.account_id = $1 AND m.queue_id = $2 AND m.group_id = g.group_id)`,
);

/** Removes every message of the queue. Answers how many. */
export async function purgeMessages(tx: Transaction, queue: QueueRow): Promise<number> {
  const id = [queue.account_id, queue.queue_id];
  if (queue.type === 'fifo') await tx.query(lockGroups, id);
  const { rows } = await tx.query<{ source_queue_id: bigint | null; messages: bigint }>(removeMessages, id);
  const counts = new CountChanges();
  let purged = 0;
  for (const row of rows) {
    const messages = Number(row.messages);
    purged += messages;
    counts.add(queue.account_id, queue.queue_id, { live: -messages });
    if (row.source_queue_id !== null) counts.add(queue.account_id, row.source_queue_id, { dead: -messages });
  }
  counts.send(tx);
  if (queue.type === 'fifo') await tx.query(removeEmptyGroups, id);
  return purged;
}
