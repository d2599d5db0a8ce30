// The account lock: a row lock on the account's wallet.
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { problem } from '../../problems/problem.ts';
import { clockNow } from '../database-clock.ts';

const lock = statement(
  'account_lock',
  'SELECT suspended, rules_version FROM core.wallet WHERE account_id = $1 FOR UPDATE',
);

/**
 * Locks the wallet row until the end of the transaction: no lane commit and no other change of the account runs beside it.
 * Answers the time after the lock, or null when there is no such account.
 */
export async function lockAccount(tx: Queryable, accountId: string): Promise<number | null> {
  return (await lockWallet(tx, accountId))?.nowMs ?? null;
}

export interface WalletState {
  readonly suspended: boolean;
  /** Of the approval rules. */
  readonly rulesVersion: bigint;
}

interface StateRow {
  readonly suspended: boolean;
  readonly rules_version: bigint;
}

/** The same, with whether the account is suspended, and the version of its approval rules. */
export async function lockWallet(
  tx: Queryable,
  accountId: string,
): Promise<(WalletState & { readonly nowMs: number }) | null> {
  const [{ rows }, nowMs] = await Promise.all([tx.query<StateRow>(lock, [accountId]), clockNow(tx)]);
  const [row] = rows;
  return row === undefined ? null : { nowMs, suspended: row.suspended, rulesVersion: row.rules_version };
}

/** Locks the account of a call. Answers the time after the lock. Throws INVALID_API_KEY when the account is gone. */
export async function lockCaller(tx: Queryable, accountId: string): Promise<number> {
  const nowMs = await lockAccount(tx, accountId);
  if (nowMs === null) throw problem('INVALID_API_KEY');
  return nowMs;
}
