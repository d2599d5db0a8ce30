import { describe, expect, test } from 'vitest';
import { NANOS_PER_USD } from '../../../lib/money.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { rollWindows, type WalletRow } from '../state.ts';
import { budgetAlert, lowBalanceChange, lowBalanceThreshold, rearmLowBalance } from './alerts.ts';

const DAY = Date.UTC(2026, 5, 3);
const usd = (amount: number) => BigInt(Math.round(amount * 1_000)) * (NANOS_PER_USD / 1_000n);

const wallet = {
  account_id: 'acct_anon_1',
  day_start: DAY,
  day_used_nanos: 0n,
  day_held_nanos: 0n,
  month_start: Date.UTC(2026, 5, 1),
  month_used_nanos: 0n,
  month_held_nanos: 0n,
  budget_period: 'daily',
  budget_alert_nanos: usd(4),
  budget_alerted_for: null,
  last_grant_nanos: usd(20),
  low_balance_armed: true,
} as WalletRow;

describe('wallet.low_balance', () => {
  test('has a threshold of 1 USD or 10 % of the last grant, whichever is more', () => {
    expect(lowBalanceThreshold(usd(2))).toBe(usd(1));
    expect(lowBalanceThreshold(usd(20))).toBe(usd(2));
  });

  test('fires on falling below it, once, and again only after 120 % of it', () => {
    const at = lowBalanceChange(wallet, usd(2), DAY);
    expect(at.events).toEqual([]);
    const below = lowBalanceChange(wallet, usd(1.999), DAY);
    expect(below.events).toMatchObject([
      { type: 'wallet.low_balance', data: { reason: 'low_balance', object: { balance_usd: 1.999, threshold_usd: 2 } } },
    ]);
    expect(lowBalanceChange(below.wallet, usd(1), DAY).events).toEqual([]);
    expect(rearmLowBalance(below.wallet, usd(2.4)).low_balance_armed).toBe(false);
    const armed = rearmLowBalance(below.wallet, usd(2.401));
    expect(armed.low_balance_armed).toBe(true);
    expect(lowBalanceChange(armed, usd(1), DAY).events).toHaveLength(1);
  });
});

describe('the budget alert', () => {
  test('fires when charged and held money reaches the threshold, once a window', () => {
    expect(budgetAlert({ ...wallet, day_used_nanos: usd(3.999) }, DAY).events).toEqual([]);
    const first = budgetAlert({ ...wallet, day_used_nanos: usd(3), day_held_nanos: usd(1) }, DAY);
    expect(first.events).toMatchObject([
      { type: 'wallet.low_balance', data: { reason: 'budget_alert', object: { used_usd: 3, held_usd: 1 } } },
    ]);
    expect(budgetAlert(first.wallet, DAY).events).toEqual([]);
    const next = rollWindows(first.wallet, DAY + DAY_MS);
    expect(budgetAlert(next, DAY + DAY_MS).events).toEqual([]);
    expect(budgetAlert({ ...next, day_used_nanos: usd(5) }, DAY + DAY_MS).events).toHaveLength(1);
  });

  test('needs a period and a threshold', () => {
    const spent = { ...wallet, day_used_nanos: usd(9) };
    expect(budgetAlert({ ...spent, budget_period: null }, DAY).events).toEqual([]);
    expect(budgetAlert({ ...spent, budget_alert_nanos: null }, DAY).events).toEqual([]);
  });
});
