import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../lib/time.ts';
import { budgetUse, fundsOf, type GrantRow, rollWindows, spendableOf, spendingOrder, type WalletRow } from './state.ts';

const DAY = Date.UTC(2026, 0, 31);

const wallet: WalletRow = {
  account_id: 'acct_anon_1',
  balance_nanos: 100n,
  held_nanos: 3n,
  last_seq: 0n,
  day_start: DAY,
  day_used_nanos: 5n,
  day_held_nanos: 1n,
  month_start: Date.UTC(2026, 0, 1),
  month_used_nanos: 50n,
  month_held_nanos: 3n,
  budget_period: null,
  budget_cap_nanos: null,
  budget_alert_nanos: null,
  budget_alerted_for: null,
  last_grant_nanos: 0n,
  low_balance_armed: true,
  suspended: false,
  rules_version: 0n,
  frozen_reason: null,
  debt_nanos: 0n,
  recharge_trigger_nanos: null,
  recharge_due_at: null,
  recharge_attempt_id: null,
};

const grant = (grant_id: string, over: Partial<GrantRow>): GrantRow => ({
  account_id: 'acct_anon_1',
  grant_id,
  kind: 'paid',
  remaining_nanos: 10n,
  reserved_nanos: 4n,
  expires_at: null,
  ...over,
});

describe('budget windows', () => {
  test('stay until their day or month is over', () => {
    expect(rollWindows(wallet, DAY + DAY_MS - 1)).toBe(wallet);
  });

  test('start empty: the day at midnight, the month with its first day, in UTC', () => {
    const next = rollWindows(wallet, DAY + DAY_MS);
    expect(next).toMatchObject({ day_start: DAY + DAY_MS, day_used_nanos: 0n, day_held_nanos: 0n });
    expect(next).toMatchObject({ month_start: Date.UTC(2026, 1, 1), month_used_nanos: 0n, month_held_nanos: 0n });
    const inMonth = rollWindows({ ...wallet, day_start: DAY - DAY_MS }, DAY);
    expect(inMonth).toMatchObject({ day_used_nanos: 0n, month_used_nanos: 50n, month_held_nanos: 3n });
  });

  test('are not emptied by a clock that is set back', () => {
    expect(rollWindows(wallet, DAY - 40 * DAY_MS)).toMatchObject({
      day_start: DAY,
      day_used_nanos: 5n,
      month_used_nanos: 50n,
    });
  });

  test('are those of the budget’s period', () => {
    expect(budgetUse({ ...wallet, budget_period: 'daily' })).toMatchObject({ used: 5n, held: 1n, endMs: DAY + DAY_MS });
    expect(budgetUse({ ...wallet, budget_period: 'monthly' })).toMatchObject({
      used: 50n,
      held: 3n,
      endMs: Date.UTC(2026, 1, 1),
    });
    expect(fundsOf({ ...wallet, budget_period: 'daily', budget_cap_nanos: 9n }, [], [])).toMatchObject({
      budget: { cap: 9n },
      committed: 6n,
    });
    expect(fundsOf({ ...wallet, budget_period: 'daily' }, [], []).budget).toBeNull();
  });
});

test('grants are spent promotional first, then the earliest expiry, then the oldest; expired ones not at all', () => {
  const now = DAY + HOUR_MS;
  const grants = [
    grant('g1', {}),
    grant('g2', { expires_at: now + 2 }),
    grant('g3', { kind: 'promo' }),
    grant('g4', { kind: 'promo', expires_at: now + 9 }),
    grant('g5', { kind: 'promo', expires_at: now }),
    grant('g0', { kind: 'promo', expires_at: now + 9 }),
  ];
  const order = spendingOrder(grants, now);
  expect(order.map(({ grant_id }) => grant_id)).toEqual(['g0', 'g4', 'g3', 'g2', 'g1']);
  expect(spendableOf(order)).toBe(30n);
});
