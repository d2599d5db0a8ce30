// Exclusion per account: the wallet row is the one lock that lanes, key changes and structural changes of modules share.
import { textArray } from '../../db/arrays.ts';
import type { Transaction } from '../../db/database.ts';
import { lockWallets, readClock } from './statements.ts';

/** Locks the account until the transaction ends. Answers the time, read after the lock was taken (Unix ms). */
export async function lockAccount(tx: Transaction, accountId: string): Promise<number> {
  const [, clock] = await Promise.all([
    tx.query(lockWallets, [textArray([accountId])]),
    tx.query<{ now: number }>(readClock, []),
  ]);
  return (clock.rows[0] as { now: number }).now;
}
