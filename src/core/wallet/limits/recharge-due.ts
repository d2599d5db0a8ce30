// The time at which auto-recharge next examines a wallet. Pure, and based on the state, not on the change that led to it. Every write of a
// wallet row calls it, so no balance below the trigger is missed, at no extra statement. payments/recharge acts on it.
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
