import { describe, expect, test } from 'vitest';
import { DAY_MS } from '../../lib/time.ts';
import type { SubscriptionRow } from './store.ts';
import { monthsAfter, subscriptionState } from './subscription.ts';

const STARTED = Date.UTC(2026, 0, 31, 12);
const row = (over: Partial<SubscriptionRow> = {}) =>
  ({
    ref: 'sub',
    method_ref: 'pm',
    amount_minor: 2_000n,
    currency: 'USD',
    payment_ref: 'pay',
    paid_renewals: 0,
    started_at: STARTED,
    cancel_at: null,
    ...over,
  }) as SubscriptionRow;

test('months end where their last day is, and do not creep', () => {
  const days = [1, 2, 3, 12, 25].map((months) => new Date(monthsAfter(STARTED, months)).toISOString());
  expect(days).toEqual([
    '2026-02-28T12:00:00.000Z',
    '2026-03-31T12:00:00.000Z',
    '2026-04-30T12:00:00.000Z',
    '2027-01-31T12:00:00.000Z',
    '2028-02-29T12:00:00.000Z',
  ]);
});

describe('a subscription', () => {
  const at = (months: number, afterMs = 0) => monthsAfter(STARTED, months) + afterMs;

  test('waits for a payment that takes its time', () => {
    expect(subscriptionState(row(), 'slow', STARTED - 1)).toMatchObject({ status: 'pending', lastInvoice: null });
  });

  test('is renewed each month by a card that pays, each by an invoice of its own', () => {
    const states = [0, 1, 14].map((months) => subscriptionState(row(), 'pays', at(months)));
    for (const [i, months] of [0, 1, 14].entries())
      expect(states[i]).toMatchObject({
        status: 'active',
        currentPeriodStartMs: at(months),
        currentPeriodEndMs: at(months + 1),
        lastInvoice: { ref: `sub_${months}`, status: 'paid', amountMinor: 2_000, nextAttemptMs: null },
      });
    expect(subscriptionState(row(), 'pays', at(1, -1)).lastInvoice?.ref).toBe('sub_0');
  });

  test.each([
    ['declines_later', 'card_declined'],
    ['authenticates', 'authentication_required'],
  ])('owes its first renewal with a card that %s', (card, failureCode) => {
    expect(subscriptionState(row(), card, at(1, -1)).status).toBe('active');
    for (const nowMs of [at(1), at(1, 20 * DAY_MS), at(3)])
      expect(subscriptionState(row(), card, nowMs)).toMatchObject({
        status: 'past_due',
        lastInvoice: { ref: 'sub_1', status: 'failed', failureCode, atMs: at(1) },
      });
  });

  test('owes the next renewal when a person paid the one before', () => {
    const paid = row({ paid_renewals: 1 });
    expect(subscriptionState(paid, 'declines_later', at(1))).toMatchObject({
      status: 'active',
      currentPeriodStartMs: at(1),
      lastInvoice: { ref: 'sub_1', status: 'paid' },
    });
    expect(subscriptionState(paid, 'declines_later', at(2))).toMatchObject({
      status: 'past_due',
      currentPeriodStartMs: at(2),
      lastInvoice: { ref: 'sub_2', status: 'failed' },
    });
  });

  test('that is cancelled runs to the moment named, and is not renewed at it', () => {
    const ending = row({ cancel_at: at(1) });
    expect(subscriptionState(ending, 'pays', at(1, -1))).toMatchObject({ status: 'active', cancelAtPeriodEnd: true });
    expect(subscriptionState(ending, 'pays', at(1))).toMatchObject({
      status: 'cancelled',
      cancelAtPeriodEnd: false,
      lastInvoice: { ref: 'sub_0' },
    });
  });
});
