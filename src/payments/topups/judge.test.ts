import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../lib/time.ts';
import type { PaymentState } from '../../vendors/payments/port.ts';
import { judge, nextCheckMs } from './judge.ts';
import type { TopupRow, TopupStatus } from './store.ts';

const BEGUN = Date.UTC(2026, 10, 1);
const row = (over: Partial<TopupRow> = {}) =>
  ({
    status: 'pending',
    amount_nanos: 10n ** 10n,
    currency: 'USD',
    charge_minor: 1_000n,
    failure_code: null,
    review_reason: null,
    review_verdict: null,
    return_open: false,
    created_at: BEGUN,
    expires_at: BEGUN + DAY_MS,
    ...over,
  }) as TopupRow;
const payment = (status: PaymentState['status']) =>
  ({ status, amountMinor: 1_000, currency: 'USD', failureCode: status === 'failed' ? 'card_declined' : null }) as const;
const now = { nowMs: BEGUN + 1, reviewAboveNanos: null };

describe('every state meets every payment', () => {
  const states: readonly TopupStatus[] = ['pending', 'review', 'succeeded', 'failed', 'expired'];
  const after = {
    open: { pending: 'pending', review: 'review', succeeded: 'succeeded', failed: 'failed', expired: 'expired' },
    processing: { pending: 'pending', review: 'review', succeeded: 'succeeded', failed: 'failed', expired: 'expired' },
    review: { pending: 'review', review: 'review', succeeded: 'succeeded', failed: 'review', expired: 'review' },
    paid: {
      pending: 'succeeded',
      review: 'succeeded',
      succeeded: 'succeeded',
      failed: 'succeeded',
      expired: 'succeeded',
    },
    failed: { pending: 'failed', review: 'failed', succeeded: 'succeeded', failed: 'failed', expired: 'expired' },
    expired: { pending: 'expired', review: 'failed', succeeded: 'succeeded', failed: 'failed', expired: 'expired' },
  } as const;
  const cases = Object.entries(after).flatMap(([said, by]) => states.map((state) => [state, said, by[state]] as const));

  test.each(cases)('%s and %s: %s', (status, said, expected) => {
    expect(judge(row({ status }), payment(said as 'paid'), now).status).toBe(expected);
  });

  test.each(states)('%s without a payment stays until it expires', (status) => {
    expect(judge(row({ status }), null, now).status).toBe(status);
    const late = judge(row({ status }), null, { ...now, nowMs: BEGUN + DAY_MS }).status;
    expect(late).toBe(status === 'pending' ? 'expired' : status);
  });
});

describe('what was paid', () => {
  test('otherwise than asked for, or above the bound, is looked at first', () => {
    expect(judge(row(), { ...payment('paid'), amountMinor: 999 }, now)).toMatchObject({ review_reason: 'mismatch' });
    expect(judge(row(), { ...payment('paid'), currency: 'EUR' }, now)).toMatchObject({ review_reason: 'mismatch' });
    const bound = { ...now, reviewAboveNanos: 10n ** 10n - 1n };
    expect(judge(row(), payment('paid'), bound)).toMatchObject({ status: 'review', review_reason: 'amount' });
    expect(judge(row(), payment('paid'), { ...now, reviewAboveNanos: 10n ** 10n }).status).toBe('succeeded');
  });

  test('is credited when the operator approves it, and never when he rejects it', () => {
    const late = { ...payment('paid'), amountMinor: 1 };
    expect(judge(row({ status: 'review', review_verdict: 'approved' }), late, now).status).toBe('succeeded');
    for (const status of ['review', 'failed'] as const)
      expect(judge(row({ status, review_verdict: 'rejected' }), payment('paid'), now)).toMatchObject({
        status: 'failed',
        failure_code: 'rejected',
      });
  });
});

test('payments are read after 1, 5 and 15 minutes, hourly to a day after the link, daily for a week, longer only while open', () => {
  const checks = (over: Partial<TopupRow>, most: number) => {
    const times: number[] = [];
    for (let at: number | null = BEGUN; at !== null && times.length < most; ) {
      at = nextCheckMs(row(over), at);
      if (at !== null) times.push(at - BEGUN);
    }
    return times;
  };
  const all = checks({ status: 'expired' }, 1_000);
  expect(all.slice(0, 5)).toEqual([60_000, 300_000, 900_000, 900_000 + HOUR_MS, 900_000 + 2 * HOUR_MS]);
  const gaps = all.slice(4).map((at, i) => at - (all[i + 3] as number));
  expect(gaps.filter((gap) => gap === HOUR_MS)).toHaveLength(47);
  expect(gaps.filter((gap) => gap === DAY_MS)).toHaveLength(7);
  expect(all).toHaveLength(3 + 48 + 7);
  expect(checks({ return_open: true }, 200)).toHaveLength(200);
  expect(checks({ status: 'review' }, 200)).toHaveLength(200);
  expect(checks({ status: 'pending' }, 200)).toHaveLength(200);
});
