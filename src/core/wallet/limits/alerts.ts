// Wallet alerts (contract §3). wallet.low_balance fires once on falling below the threshold, and is armed again above 120 % of it. The budget
// alert fires once per budget window. Pure: the caller writes the returned wallet row and events.
import { NANOS_PER_USD, usd } from '../../../lib/money.ts';
import { iso } from '../../../lib/time.ts';
import { budgetUse, type WalletRow } from '../state.ts';

interface Change {
  readonly wallet: WalletRow;
  readonly events: readonly { readonly type: string; readonly data: unknown }[];
}

/** max(1 USD, 10 % of the last grant), nano-USD. */
export function lowBalanceThreshold(lastGrantNanos: bigint): bigint {
  const share = lastGrantNanos / 10n;
  return share > NANOS_PER_USD ? share : NANOS_PER_USD;
}

export function lowBalanceChange(wallet: WalletRow, spendable: bigint, nowMs: number): Change {
  const threshold = lowBalanceThreshold(wallet.last_grant_nanos);
  if (wallet.low_balance_armed && spendable < threshold) {
    const object = { currency: 'USD', balance_usd: usd(spendable), threshold_usd: usd(threshold), as_of: iso(nowMs) };
    return {
      wallet: { ...wallet, low_balance_armed: false },
      events: [{ type: 'wallet.low_balance', data: { object, reason: 'low_balance' } }],
    };
  }
  return { wallet: rearmLowBalance(wallet, spendable), events: [] };
}

/** Arms the event again above 120 % of the threshold; never fires it. */
export function rearmLowBalance(wallet: WalletRow, spendable: bigint): WalletRow {
  const above = spendable * 5n > lowBalanceThreshold(wallet.last_grant_nanos) * 6n;
  return above && !wallet.low_balance_armed ? { ...wallet, low_balance_armed: true } : wallet;
}

export function budgetAlert(wallet: WalletRow, nowMs: number): Change {
  const threshold = wallet.budget_alert_nanos;
  if (wallet.budget_period === null || threshold === null) return { wallet, events: [] };
  const use = budgetUse(wallet);
  const total = use.used + use.held;
  if (total < threshold || wallet.budget_alerted_for === use.startMs) return { wallet, events: [] };
  const object = {
    period: wallet.budget_period,
    used_usd: usd(use.used),
    held_usd: usd(use.held),
    alert_threshold_usd: usd(threshold),
    window_start: iso(use.startMs),
    window_end: iso(use.endMs),
    as_of: iso(nowMs),
  };
  return {
    wallet: { ...wallet, budget_alerted_for: use.startMs },
    events: [{ type: 'wallet.low_balance', data: { object, reason: 'budget_alert' } }],
  };
}
