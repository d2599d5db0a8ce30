// Reads the amount that an account could be charged now, without a lock. It only avoids useless work; the lane decides.
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { budgetUse, rollWindows, type WalletRow } from './state.ts';

const readWallet = statement(
  'wallet_read_funds',
  `SELECT balance_nanos, held_nanos, day_start, day_used_nanos, day_held_nanos, month_start, month_used_nanos, month_held_nanos,
          budget_period, budget_cap_nanos, suspended, frozen_reason, date_trunc('milliseconds', core.clock_now()) AS now
     FROM core.wallet
    WHERE account_id = $1`,
);

/** Nano-USD that wallet and budget leave, expired grants that nobody has swept included; 0 for a suspended or frozen account. */
export async function readFunds(db: Queryable, accountId: string): Promise<bigint> {
  const { rows } = await db.query<WalletRow & { readonly now: number }>(readWallet, [accountId]);
  const [row] = rows;
  if (row === undefined || row.suspended || row.frozen_reason !== null) return 0n;
  const spendable = row.balance_nanos - row.held_nanos;
  if (row.budget_period === null || row.budget_cap_nanos === null) return spendable;
  const { used, held } = budgetUse(rollWindows(row, row.now));
  const left = row.budget_cap_nanos - used - held;
  return left < spendable ? left : spendable;
}
