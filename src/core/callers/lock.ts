// The account lock: a row lock on the account's wallet.
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { problem } from '../../problems/problem.ts';
import { clockNow } from '../database-clock.ts';

const lock = statement('account_lock', 'SELECT suspended FROM core.wallet WHERE account_id = $1 FOR UPDATE');

/**
 * Locks the wallet row until the end of the transaction: no lane commit and no other change of the account runs beside it.
 * Answers the time after the lock, or null when there is no such account.
 */
export async function lockAccount(tx: Queryable, accountId: string): Promise<number | null> {
  return (await lockWallet(tx, accountId))?.nowMs ?? null;
}

/** The same, with whether the account is suspended. */
export async function lockWallet(
  tx: Queryable,
  accountId: string,
): Promise<{ readonly nowMs: number; readonly suspended: boolean } | null> {
  const [{ rows }, nowMs] = await Promise.all([tx.query<{ suspended: boolean }>(lock, [accountId]), clockNow(tx)]);
  return rows[0] === undefined ? null : { nowMs, suspended: rows[0].suspended };
}

/** Locks the account of a call. Answers the time after the lock. Throws INVALID_API_KEY when the account is gone. */
export async function lockCaller(tx: Queryable, accountId: string): Promise<number> {
  const nowMs = await lockAccount(tx, accountId);
  if (nowMs === null) throw problem('INVALID_API_KEY');
  return nowMs;
}
