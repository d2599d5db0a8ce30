import { describe, expect, test } from 'vitest';
import type { WalletRow } from '../../core/wallet/state.ts';
import { DAY_MS, HOUR_MS } from '../../lib/time.ts';
import { afterFailure, judgeLook, type Look, nextAskMs } from './judge.ts';
import type { RechargeRow } from './store.ts';

const DAY = Date.UTC(2026, 0, 31);
const MONTH = Date.UTC(2026, 0, 1);
const NOW = DAY + 20 * HOUR_MS;
const MIDNIGHT = DAY + DAY_MS;

const wallet = {
  day_start: DAY,
  day_used_nanos: 7n,
  day_held_nanos: 3n,
  month_start: MONTH,
  month_used_nanos: 20n,
  month_held_nanos: 0n,
  budget_period: null,
  budget_cap_nanos: null,
  suspended: false,
  frozen_reason: null,
  recharge_trigger_nanos: 10n,
  recharge_attempt_id: null,
} as unknown as WalletRow;
const recharge: RechargeRow = {
  account_id: 'acct_anon_1',
  enabled: true,
  trigger_nanos: 10n,
  amount_nanos: 25n,
  method_id: null,
  max_per_day: 3,
  max_per_month: 30,
  failures: 0,
  retry_at: null,
  disabled_reason: null,
};
const charged = { today: 0, thisMonth: 0, thisMonthNanos: 0n, limitNanos: 500n };
const usual: Look = { wallet, spendableNanos: 9n, recharge, last: null, charged, hasMethod: true, nowMs: NOW };

const verdict = (over: Partial<Look>) => judgeLook({ ...usual, ...over });
const ofWallet = (over: Partial<WalletRow>) => verdict({ wallet: { ...wallet, ...over } });

describe('a wallet that is due', () => {
  test('is charged for when it is below its trigger and nothing speaks against it', () => {
    expect(verdict({})).toBe('charge');
  });

  test.each([
    ['there is enough', { spendableNanos: 10n }],
    ['it is disabled', { recharge: { ...recharge, enabled: false } }],
    ['the account is suspended', { wallet: { ...wallet, suspended: true } }],
    ['a payment is disputed', { wallet: { ...wallet, frozen_reason: 'dispute' as const } }],
    ['something is owed', { wallet: { ...wallet, frozen_reason: 'debt' as const } }],
    ['a charge is open', { wallet: { ...wallet, recharge_attempt_id: 'arch_1' } }],
  ])('is left alone while %s', (_, over) => {
    expect(verdict(over)).toEqual({ untilMs: null });
  });

  test('waits for the end of a budget that is used up, holds included', () => {
    const budget = { budget_period: 'daily' as const, budget_cap_nanos: 10n };
    expect(ofWallet(budget)).toEqual({ untilMs: MIDNIGHT });
    expect(ofWallet({ ...budget, budget_cap_nanos: 11n })).toBe('charge');
    expect(ofWallet({ budget_period: 'monthly', budget_cap_nanos: 20n })).toEqual({ untilMs: Date.UTC(2026, 1, 1) });
  });

  test('waits a minute after the last attempt', () => {
    expect(verdict({ last: { created_at: NOW - 59_999 } })).toEqual({ untilMs: NOW + 1 });
    expect(verdict({ last: { created_at: NOW - 60_000 } })).toBe('charge');
  });

  test('waits for the next day or month when its caps are used up, and for the month when the charge limit is', () => {
    expect(verdict({ charged: { ...charged, today: 2, thisMonth: 29, thisMonthNanos: 475n } })).toBe('charge');
    expect(verdict({ charged: { ...charged, today: 3 } })).toEqual({ untilMs: MIDNIGHT });
    expect(verdict({ charged: { ...charged, thisMonth: 30 } })).toEqual({ untilMs: Date.UTC(2026, 1, 1) });
    expect(verdict({ charged: { ...charged, thisMonthNanos: 476n } })).toEqual({ untilMs: Date.UTC(2026, 1, 1) });
  });

  test('waits as long as the longest of what it waits for', () => {
    const retry = { ...recharge, retry_at: MIDNIGHT + 5 };
    expect(verdict({ recharge: retry, charged: { ...charged, today: 3 } })).toEqual({ untilMs: MIDNIGHT + 5 });
  });

  test('is looked at again in an hour while no method can be charged', () => {
    expect(verdict({ hasMethod: false })).toEqual({ untilMs: NOW + HOUR_MS });
  });
});

describe('a charge that failed', () => {
  test('is followed by an hour, then six; the third in a row disables it', () => {
    const first = afterFailure(recharge, 'card_declined', NOW);
    expect(first).toMatchObject({ enabled: true, failures: 1, retry_at: NOW + HOUR_MS });
    const second = afterFailure(first, 'insufficient_funds', NOW);
    expect(second).toMatchObject({ enabled: true, failures: 2, retry_at: NOW + 6 * HOUR_MS });
    expect(afterFailure(second, 'card_declined', NOW)).toMatchObject({
      enabled: false,
      failures: 3,
      retry_at: null,
      disabled_reason: 'failed_three_times',
    });
  });

  test.each(['expired_card', 'lost_card', 'stolen_card', 'authentication_required', 'method_gone'])(
    'by %s disables it at once',
    (code) => {
      expect(afterFailure(recharge, code, NOW)).toMatchObject({
        enabled: false,
        disabled_reason: code,
        retry_at: null,
      });
    },
  );

  test('changes nothing of one that is disabled', () => {
    const disabled = { ...recharge, enabled: false };
    expect(afterFailure(disabled, 'card_declined', NOW)).toBe(disabled);
  });
});

test('an attempt without a decision is asked for after 5 s, and ever later, up to hourly', () => {
  expect([1, 2, 3, 100].map((tries) => nextAskMs(tries, 0))).toEqual([5_000, 10_000, 20_000, HOUR_MS]);
});
