// Rows of the wallet and its grants as read in a transaction, with the budget windows rolled to its time.
import { DAY_MS, startOfDay, startOfMonth, startOfNextMonth } from '../../lib/time.ts';
import { type KeyCap, spendCapOf } from '../callers/key-cap.ts';
import type { BudgetWindow, Funds, OpenGrant } from './lane/admit.ts';

export interface WalletRow {
  readonly account_id: string;
  readonly balance_nanos: bigint;
  readonly held_nanos: bigint;
  readonly last_seq: bigint;
  readonly day_start: number;
  readonly day_used_nanos: bigint;
  readonly day_held_nanos: bigint;
  readonly month_start: number;
  readonly month_used_nanos: bigint;
  readonly month_held_nanos: bigint;
  readonly budget_period: 'daily' | 'monthly' | null;
  readonly budget_cap_nanos: bigint | null;
  readonly budget_alert_nanos: bigint | null;
  readonly budget_alerted_for: number | null;
  readonly last_grant_nanos: bigint;
  readonly low_balance_armed: boolean;
  readonly suspended: boolean;
  /** Of the approval rules. */
  readonly rules_version: bigint;
  readonly frozen_reason: 'dispute' | 'debt' | null;
  /** What later credit pays first. */
  readonly debt_nanos: bigint;
  /** Auto-recharge looks at the wallet when less is left; null: never. */
  readonly recharge_trigger_nanos: bigint | null;
  /** When it does next: withRechargeDue. */
  readonly recharge_due_at: number | null;
  /** The one charge that may be under way. */
  readonly recharge_attempt_id: string | null;
}

export interface GrantRow {
  readonly account_id: string;
  readonly grant_id: string;
  readonly kind: 'promo' | 'paid';
  readonly remaining_nanos: bigint;
  readonly reserved_nanos: bigint;
  readonly expires_at: number | null;
}

/** The wallet with its day and month windows moved to `nowMs`: a new window starts empty. A clock set back reopens no window. */
export function rollWindows(wallet: WalletRow, nowMs: number): WalletRow {
  const day = Math.max(wallet.day_start, startOfDay(nowMs));
  const month = Math.max(wallet.month_start, startOfMonth(nowMs));
  const sameDay = wallet.day_start === day;
  const sameMonth = wallet.month_start === month;
  if (sameDay && sameMonth) return wallet;
  return {
    ...wallet,
    day_start: day,
    day_used_nanos: sameDay ? wallet.day_used_nanos : 0n,
    day_held_nanos: sameDay ? wallet.day_held_nanos : 0n,
    month_start: month,
    month_used_nanos: sameMonth ? wallet.month_used_nanos : 0n,
    month_held_nanos: sameMonth ? wallet.month_held_nanos : 0n,
  };
}

/** Unexpired grants in spending order: promotional first, then earliest expiry, then id. */
export function spendingOrder(grants: readonly GrantRow[], nowMs: number): GrantRow[] {
  return grants
    .filter((grant) => grant.expires_at === null || grant.expires_at > nowMs)
    .sort(
      (a, b) =>
        Number(a.kind === 'paid') - Number(b.kind === 'paid') ||
        (a.expires_at ?? Number.MAX_SAFE_INTEGER) - (b.expires_at ?? Number.MAX_SAFE_INTEGER) ||
        (a.grant_id < b.grant_id ? -1 : 1),
    );
}

/** What grants can still pay together, nano-USD. */
export function spendableOf(grants: readonly GrantRow[]): bigint {
  return grants.reduce((sum, grant) => sum + grant.remaining_nanos - grant.reserved_nanos, 0n);
}

export function openGrants(grants: readonly GrantRow[]): OpenGrant[] {
  return grants.map((grant) => ({
    grantId: grant.grant_id,
    remaining: grant.remaining_nanos,
    reserved: grant.reserved_nanos,
  }));
}

/** What a rolled wallet's budget has seen in its window: charged and held, nano-USD, and when the window starts and ends. */
export function budgetUse(wallet: WalletRow): { used: bigint; held: bigint; startMs: number; endMs: number } {
  return wallet.budget_period === 'monthly'
    ? {
        used: wallet.month_used_nanos,
        held: wallet.month_held_nanos,
        startMs: wallet.month_start,
        endMs: startOfNextMonth(wallet.month_start),
      }
    : {
        used: wallet.day_used_nanos,
        held: wallet.day_held_nanos,
        startMs: wallet.day_start,
        endMs: wallet.day_start + DAY_MS,
      };
}

/** `wallet` rolled to `nowMs`; `ordered` from spendingOrder. */
export function fundsOf(wallet: WalletRow, ordered: readonly GrantRow[], keyCaps: readonly KeyCap[]): Funds {
  const use = budgetUse(wallet);
  const budget = budgetWindow(wallet, use.endMs);
  const frozen = wallet.frozen_reason !== null;
  return {
    frozen,
    grants: openGrants(ordered),
    budget,
    committed: use.used + use.held,
    keyCaps: keyCaps.map(spendCapOf),
  };
}

function budgetWindow(wallet: WalletRow, endsAtMs: number): BudgetWindow | null {
  if (wallet.budget_period === null || wallet.budget_cap_nanos === null) return null;
  return {
    reason: wallet.budget_period === 'daily' ? 'budget_daily' : 'budget_monthly',
    cap: wallet.budget_cap_nanos,
    endsAtMs,
  };
}
