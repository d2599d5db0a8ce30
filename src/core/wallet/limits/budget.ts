// Sets an account's budget. The lane (admit.ts) enforces it and counts use even without a budget, so a new cap applies at once.
import type { Transaction } from '../../../db/database.ts';
import { openWallet, saveWallet } from '../open-wallet.ts';
import type { WalletRow } from '../state.ts';

export interface NewBudget {
  readonly period: 'daily' | 'monthly';
  /** Nano-USD; null: no cap. Zero blocks every billable call. */
  readonly capNanos: bigint | null;
  readonly alertNanos: bigint | null;
}

/** Replaces the budget as a whole; answers the wallet as it is then. */
export async function setBudget(tx: Transaction, accountId: string, budget: NewBudget): Promise<WalletRow> {
  const opened = await openWallet(tx, accountId);
  if (opened === null) throw new Error(`account ${accountId} has no wallet`);
  const before = opened.wallet;
  const sameAlert = before.budget_period === budget.period && before.budget_alert_nanos === budget.alertNanos;
  const wallet: WalletRow = {
    ...before,
    budget_period: budget.period,
    budget_cap_nanos: budget.capNanos,
    budget_alert_nanos: budget.alertNanos,
    // An unchanged threshold was told in this window already; another one is to be told once.
    budget_alerted_for: sameAlert ? before.budget_alerted_for : null,
    // A recharge that waited for the end of the old budget's window is looked at anew.
    recharge_due_at: before.recharge_attempt_id === null ? null : before.recharge_due_at,
  };
  await saveWallet(tx, opened, wallet, []);
  return wallet;
}
