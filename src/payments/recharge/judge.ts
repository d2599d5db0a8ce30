// Decisions of auto-recharge: whether a wallet that is due is charged, and what follows a failed charge. Pure: the caller holds the wallet's
// lock and writes.

import { budgetUse, type WalletRow } from '../../core/wallet/state.ts';
import { exactBackoffMs } from '../../lib/backoff.ts';
import { DAY_MS, HOUR_MS, startOfNextMonth } from '../../lib/time.ts';
import { watchedMs } from '../topups/judge.ts';
import type { AttemptRow, Charged, RechargeRow } from './store.ts';

export const apartMs = 60_000;

export interface Look {
  /** Rolled to nowMs. */
  readonly wallet: WalletRow;
  readonly spendableNanos: bigint;
  readonly recharge: RechargeRow;
  readonly last: Pick<AttemptRow, 'created_at'> | null;
  readonly charged: Charged;
  /** Whether there is a method that the provider of today can charge. */
  readonly hasMethod: boolean;
  readonly nowMs: number;
}

/** `charge`; or not before `untilMs`; `untilMs` null: not as the wallet is, and whatever changes it says that it is due. */
export type Verdict = 'charge' | { readonly untilMs: number | null };

export function judgeLook(look: Look): Verdict {
  const { wallet, spendableNanos, nowMs } = look;
  const { recharge_trigger_nanos: trigger, suspended, frozen_reason, recharge_attempt_id } = wallet;
  const isWanted = trigger !== null && spendableNanos < trigger && look.recharge.enabled;
  if (!isWanted || suspended || frozen_reason !== null || recharge_attempt_id !== null) return { untilMs: null };
  const untilMs = Math.max(...waits(look));
  return untilMs <= nowMs ? 'charge' : { untilMs };
}

/** Until when each rule has it wait; 0: it does not. */
function waits({ wallet, recharge, last, charged, hasMethod, nowMs }: Look): number[] {
  const use = budgetUse(wallet);
  const isOverBudget = wallet.budget_cap_nanos !== null && use.used + use.held >= wallet.budget_cap_nanos;
  const dayEndMs = wallet.day_start + DAY_MS;
  const monthEndMs = startOfNextMonth(wallet.month_start);
  const isOverLimit = charged.thisMonthNanos + recharge.amount_nanos > charged.limitNanos;
  return [
    isOverBudget ? use.endMs : 0,
    last === null ? 0 : last.created_at + apartMs,
    recharge.retry_at ?? 0,
    charged.today >= recharge.max_per_day ? dayEndMs : 0,
    charged.thisMonth >= recharge.max_per_month || isOverLimit ? monthEndMs : 0,
    // Another provider than the one that keeps the methods is set just now.
    hasMethod ? 0 : nowMs + HOUR_MS,
  ];
}

const PAUSES_MS = [HOUR_MS, 6 * HOUR_MS];

/** What no later try would mend. */
const HARD_FAILURES: ReadonlySet<string> = new Set([
  'authentication_required',
  'expired_card',
  'lost_card',
  'stolen_card',
  'pickup_card',
  'method_gone',
]);

/** The configuration after a charge has failed: it waits an hour, then six; the third in a row, or a hard failure, disables it. */
export function afterFailure(recharge: RechargeRow, failureCode: string, nowMs: number): RechargeRow {
  if (!recharge.enabled) return recharge;
  const failures = recharge.failures + 1;
  const pauseMs = PAUSES_MS[failures - 1];
  const disabledReason = HARD_FAILURES.has(failureCode) ? failureCode : 'failed_three_times';
  return pauseMs === undefined || HARD_FAILURES.has(failureCode)
    ? { ...recharge, enabled: false, failures, retry_at: null, disabled_reason: disabledReason }
    : { ...recharge, failures, retry_at: nowMs + pauseMs };
}

const ASK_BACKOFF = { firstMs: 5_000, maxMs: HOUR_MS };

/** When an attempt without a decision is asked for again: in 5 s, and ever later, up to an hour. */
export function nextAskMs(tries: number, nowMs: number): number {
  return nowMs + exactBackoffMs(ASK_BACKOFF, tries);
}

/** When a charge that was made is read again for what went back of it: daily, as long as a top-up is. Null: only when a hint says so. */
export function nextReadMs(
  { settled_at, return_open }: Pick<AttemptRow, 'settled_at' | 'return_open'>,
  nowMs: number,
): number | null {
  const isWatched = settled_at !== null && nowMs < settled_at + watchedMs;
  return isWatched || return_open ? nowMs + DAY_MS : null;
}
