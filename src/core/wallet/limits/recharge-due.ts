// When auto-recharge is to look at a wallet. Pure, and it judges the state, not what led to it: every write of a wallet row asks it, so a
// balance below the trigger is never missed, and none costs a statement more. What comes of a look stands in payments/recharge.
import { hintOf } from '../../background/turns.ts';
import type { WalletRow } from '../state.ts';

/** Name of the background work that looks. */
export const rechargeWork = 'account.recharge';

/** What a commit that made a wallet due tells the loops of its process. */
export const rechargeHint = hintOf(rechargeWork);

/** The wallet as it is to be written, with `spendable` nano-USD left, and due or not. An open attempt is due at its own times. */
export function withRechargeDue(wallet: WalletRow, spendable: bigint, nowMs: number): WalletRow {
  const dueMs = wallet.recharge_attempt_id === null ? rechargeDue(wallet, spendable, nowMs) : wallet.recharge_due_at;
  return dueMs === wallet.recharge_due_at ? wallet : { ...wallet, recharge_due_at: dueMs };
}

/** When it is to be looked at, in epoch milliseconds; null: it is not. Earlier said, it stays: also a look that was put off. */
function rechargeDue(wallet: WalletRow, spendable: bigint, nowMs: number): number | null {
  const { recharge_trigger_nanos: trigger, suspended, frozen_reason } = wallet;
  if (trigger === null || spendable >= trigger || suspended || frozen_reason !== null) return null;
  return wallet.recharge_due_at ?? nowMs;
}
