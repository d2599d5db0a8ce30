import { describe, expect, test } from 'vitest';
import type { WalletRow } from '../state.ts';
import { withRechargeDue } from './recharge-due.ts';

const NOW = Date.UTC(2026, 0, 31);
const wallet = {
  suspended: false,
  frozen_reason: null,
  recharge_trigger_nanos: 10n,
  recharge_due_at: null,
  recharge_attempt_id: null,
} as unknown as WalletRow;

const dueOf = (over: Partial<WalletRow>, spendable: bigint) =>
  withRechargeDue({ ...wallet, ...over }, spendable, NOW).recharge_due_at;

describe('a wallet is due for a recharge', () => {
  test('from the first write that leaves less than the trigger, and not at it', () => {
    expect([10n, 9n, 0n].map((spendable) => dueOf({}, spendable))).toEqual([null, NOW, NOW]);
  });

  test('by its state, however long it has been below: no write misses it', () => {
    expect(dueOf({ recharge_due_at: null }, 1n)).toBe(NOW);
    expect(dueOf({ recharge_due_at: NOW - 5_000 }, 1n)).toBe(NOW - 5_000);
  });

  test('no more once there is enough, and not without a trigger, suspended or frozen', () => {
    const due = { recharge_due_at: NOW - 5_000 };
    expect(dueOf(due, 10n)).toBeNull();
    expect(dueOf({ ...due, recharge_trigger_nanos: null }, 1n)).toBeNull();
    expect(dueOf({ ...due, suspended: true }, 1n)).toBeNull();
    expect(dueOf({ ...due, frozen_reason: 'debt' }, 1n)).toBeNull();
    expect(dueOf({ ...due, frozen_reason: 'dispute' }, 1n)).toBeNull();
  });

  test('at the times of its open attempt, whatever the balance is', () => {
    const open = { recharge_attempt_id: 'arch_1', recharge_due_at: NOW + 60_000 };
    expect([0n, 1_000n].map((spendable) => dueOf(open, spendable))).toEqual([NOW + 60_000, NOW + 60_000]);
  });

  test('a wallet that stays as it was is the same object', () => {
    expect(withRechargeDue(wallet, 10n, NOW)).toBe(wallet);
  });
});
