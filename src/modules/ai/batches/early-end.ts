// Early end of batches: cancelled, or expired after a day. Requests already under way continue, and are charged.

import type { Sweep } from '../../../core/background/sweeper/sweep.ts';
import { mendEach } from '../../../core/background/sweeper/sweep.ts';
import type { Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { Services } from '../../../kit/services.ts';
import { RESULT_DAYS } from '../limits.ts';
import { problem } from '../problems.ts';
import { endRemaining } from './items.ts';
import { type BatchRow, type EarlyEnd, lockBatch } from './store.ts';

const PER_RUN = 50;

const findExpired = statement(
  'ai_batch_find_expired',
  `/* fan-out: batches whose day is over */
   SELECT b.account_id, b.batch_id FROM ai.batch b
    WHERE b.finished_at IS NULL AND b.ends_as IS NULL AND b.expires_at <= core.clock_now() ORDER BY b.expires_at LIMIT $1`,
);
const findOld = statement(
  'ai_batch_find_old',
  `/* fan-out: batches that ended long ago */
   SELECT b.account_id, b.batch_id FROM ai.batch b
    WHERE b.finished_at <= core.clock_now() - interval '${RESULT_DAYS} days' ORDER BY b.finished_at LIMIT $1`,
);
const removeItems = statement('ai_item_remove', 'DELETE FROM ai.batch_item WHERE account_id = $1 AND batch_id = $2');
const removeBatch = statement('ai_batch_remove', 'DELETE FROM ai.batch WHERE account_id = $1 AND batch_id = $2');

/** Null: there is no such batch. Throws STATE_CONFLICT when it has ended otherwise. */
export async function endEarly(
  tx: Transaction,
  accountId: string,
  batchId: string,
  endsAs: EarlyEnd,
): Promise<BatchRow | null> {
  const batch = await lockBatch(tx, accountId, batchId);
  if (batch === null || batch.ends_as === endsAs) return batch;
  if (batch.finished_at !== null || batch.ends_as !== null)
    throw problem('STATE_CONFLICT', {
      message: `The batch is ${batch.ends_as ?? batch.status}.`,
      detail: batch.status,
    });
  const { code, message } = problem('BATCH_ENDED');
  return endRemaining(tx, accountId, batch, { code, message }, endsAs);
}

interface Found {
  readonly account_id: string;
  readonly batch_id: string;
}

export function batchSweeps({ db }: Pick<Services, 'db'>): Sweep[] {
  const sweep = (find: typeof findExpired, mend: (tx: Transaction, found: Found) => Promise<unknown>) => {
    return async (signal: AbortSignal) => {
      const { rows } = await db.query<Found>(find, [PER_RUN]);
      const finished = await mendEach(rows, signal, async (found) => {
        await db.transaction((tx) => mend(tx, found));
      });
      return finished && rows.length === PER_RUN;
    };
  };
  return [
    {
      name: 'ai.batches.expiry',
      intervalMs: 10_000,
      run: sweep(findExpired, (tx, { account_id, batch_id }) => expire(tx, account_id, batch_id)),
    },
    {
      name: 'ai.batches.retention',
      intervalMs: 60_000,
      run: sweep(findOld, (tx, { account_id, batch_id }) => remove(tx, account_id, batch_id)),
    },
  ];
}

async function expire(tx: Transaction, accountId: string, batchId: string): Promise<void> {
  const batch = await lockBatch(tx, accountId, batchId);
  if (batch === null || batch.finished_at !== null || batch.ends_as !== null) return;
  await endEarly(tx, accountId, batchId, 'expired');
}

async function remove(tx: Transaction, accountId: string, batchId: string): Promise<void> {
  await lockBatch(tx, accountId, batchId);
  await tx.query(removeItems, [accountId, batchId]);
  await tx.query(removeBatch, [accountId, batchId]);
}
