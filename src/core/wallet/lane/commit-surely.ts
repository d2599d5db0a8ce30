// A lane commit that survives a restart of the database: after an unknown COMMIT it checks the outcome, and it reruns a lost transaction.
import { setTimeout as sleep } from 'node:timers/promises';
import { textArray } from '../../../db/arrays.ts';
import { CommitUnknown, type Database, sqlState } from '../../../db/database.ts';
import { mayRunAgain, RETRY_FOR_MS, RETRY_PAUSE_MS } from '../../../db/ride-out.ts';
import { type CommitProbe, type CommitResult, commitLanes, type LockedWallets } from './commit.ts';
import type { LaneItem } from './lane-item.ts';
import { findLedgerEntry, lockWallets } from './statements.ts';

/** Throws what PostgreSQL throws. A lock that is not to be had (55P03) is told at once: whoever waits for it waits elsewhere. */
export async function commitSurely(
  db: Database,
  items: readonly LaneItem[],
  locked: LockedWallets,
): Promise<CommitResult> {
  const giveUpAt = performance.now() + RETRY_FOR_MS;
  for (;;) {
    const sent: { probe: CommitProbe; result: CommitResult }[] = [];
    try {
      return await commitLanes(db, items, locked, (probe, result) => sent.push({ probe, result }));
    } catch (error) {
      if (sqlState(error) === '55P03' || !mayRunAgain(error) || performance.now() > giveUpAt) throw error;
      const last = sent.at(-1);
      if (last !== undefined && (await wasCommitted(db, last.probe, giveUpAt))) return last.result;
      await sleep(RETRY_PAUSE_MS);
    }
  }
}

async function wasCommitted(db: Database, probe: CommitProbe, giveUpAt: number): Promise<boolean> {
  for (;;) {
    try {
      // The lock waits for a transaction whose client is gone but which still runs.
      return await db.transaction(async (tx) => {
        await tx.query(lockWallets, [textArray([probe.accountId])]);
        return (await tx.query(findLedgerEntry, [probe.accountId, probe.entrySeq, probe.batchId])).count === 1;
      }, probe.accountId);
    } catch (error) {
      if (performance.now() > giveUpAt) throw new CommitUnknown(error);
      await sleep(RETRY_PAUSE_MS);
    }
  }
}
