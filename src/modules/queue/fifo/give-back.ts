// Returns delivered messages of locked FIFO groups to their groups, or to the dead-letter queue after their last allowed delivery.
import { int4Array, int8Array, timestampArray } from '../../../db/arrays.ts';
import type { Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { type DeadLetter, deadLetter, isExhausted } from '../dead-letter/dead-letter.ts';
import type { Return } from './rules.ts';

// One statement for all groups. Their receipts die; a delivery that does not count is taken back.
const makeAvailable = statement(
  'fifo_return',
  `UPDATE queue.message m
      SET leased = false, attempt = m.attempt + 1, band = m.home_band, visible_at = u.visible_at,
          delivery_count = m.delivery_count - u.uncounted
     FROM unnest($3::bigint[], $4::timestamptz[], $5::int[]) u(seq, visible_at, uncounted)
    WHERE m.account_id = $1 AND m.queue_id = $2 AND m.seq = u.seq`,
);

/** Answers which of them went to the dead-letter queue. The groups must be brought in line afterwards (refreshGroups). */
export async function giveBack(
  tx: Transaction,
  options: DeadLetter,
  returned: readonly Return[],
): Promise<ReadonlySet<bigint>> {
  if (returned.length === 0) return new Set();
  const { queue } = options;
  const dead = returned
    .map(({ message, isNeighbour }) =>
      isNeighbour ? { ...message, delivery_count: message.delivery_count - 1 } : message,
    )
    .filter((message) => isExhausted(queue, message));
  await tx.query(makeAvailable, [
    queue.account_id,
    queue.queue_id,
    int8Array(returned.map(({ message }) => message.seq)),
    timestampArray(returned.map(({ availableMs }) => Math.floor(availableMs))),
    int4Array(returned.map(({ isNeighbour }) => (isNeighbour ? 1 : 0))),
  ]);
  await deadLetter(tx, options, dead);
  return new Set(dead.map((message) => message.seq));
}
