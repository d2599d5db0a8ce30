import { describe, expect, test } from 'vitest';
import type { Tier } from '../../core/callers/tiers.ts';
import { DAY_MS } from '../../lib/time.ts';
import type { InvoiceState, SubscriptionState } from '../../vendors/payments/port.ts';
import {
  cancelLater,
  end,
  isLive,
  nextCheckMs,
  outlive,
  regard,
  resume,
  type Seen,
  type Step,
  see,
  type Told,
  tierAfter,
} from './machine.ts';
import type { SubscriptionRow } from './store.ts';

const START = Date.UTC(2026, 0, 1);
const MONTH = 30 * DAY_MS;

const pending: SubscriptionRow = {
  account_id: 'acct_1',
  subscription_id: 'bsub_1',
  status: 'pending',
  tier: 'pro',
  label: 'team',
  price_nanos: 20n * 10n ** 9n,
  provider: 'sandbox',
  test_mode: true,
  return_url: null,
  fallback_tier: 'standard',
  checkout_ref: 'cs_1',
  checkout_url: 'https://pay.example',
  subscription_ref: null,
  method_ref: null,
  period_start: null,
  period_end: null,
  cancel_at_period_end: false,
  cancel_reason: null,
  wish: null,
  wish_number: 0,
  invoice_status: null,
  invoice_nanos: null,
  invoice_at: null,
  invoice_next_at: null,
  invoice_pay_url: null,
  invoice_refunded_nanos: 0n,
  invoice_dispute: null,
  paid_invoice_ref: null,
  past_due_since: null,
  reminders: 0,
  created_at: START,
  updated_at: START,
  expires_at: START + DAY_MS,
  attempt: 1,
};

/** The provider's subscription in its n-th month. */
const at = (
  month: number,
  status: SubscriptionState['status'] = 'active',
  over: Partial<SubscriptionState> = {},
): SubscriptionState => ({
  ref: 'sub_1',
  status,
  currentPeriodStartMs: START + month * MONTH,
  currentPeriodEndMs: START + (month + 1) * MONTH,
  cancelAtPeriodEnd: false,
  lastInvoice: {
    ref: `in_${month}`,
    status: status === 'past_due' ? 'failed' : 'paid',
    amountMinor: 2_000,
    currency: 'USD',
    atMs: START + month * MONTH,
    nextAttemptMs: null,
    failureCode: null,
    paymentRef: null,
    payUrl: null,
    refundedMinor: 0,
    dispute: null,
  },
  ...over,
});

/** An account whose subscription goes through steps; it keeps what the account is told, and its tier. */
class Walk {
  row = pending;
  tier: Tier = 'standard';
  nowMs = START;
  readonly told: Told[] = [];

  take(step: (row: SubscriptionRow) => Step): this {
    const { row, told } = step(this.row);
    this.tier = tierAfter(this.row, row, this.tier);
    this.row = row;
    this.told.push(...told);
    return this;
  }

  /** Reads that state of the provider's, `afterMs` later. */
  reads(subscription: SubscriptionState | null, afterMs = 0, over: Partial<Seen> = {}): this {
    this.nowMs += afterMs;
    const checkout = {
      ref: 'cs_1',
      status: subscription === null ? ('open' as const) : ('paid' as const),
      method: null,
    };
    const seen = { checkout, subscription, fulfilled: true, ...over };
    return this.take((row) => see(row, seen, { nowMs: this.nowMs, tier: this.tier }));
  }

  get state() {
    return [this.row.status, this.tier, this.told.join()];
  }
}

const active = () => new Walk().reads(at(0));

describe('a page', () => {
  test('that nobody paid at is no subscription', () => {
    const expired = { ref: 'cs_1', status: 'expired' as const, method: null };
    expect(new Walk().reads(null).state).toEqual(['pending', 'standard', '']);
    expect(new Walk().reads(null, 0, { checkout: expired }).state).toEqual(['abandoned', 'standard', '']);
    expect(new Walk().reads(null, 0, { checkout: null }).state).toEqual(['abandoned', 'standard', '']);
    expect(new Walk().reads(at(0, 'pending')).state).toEqual(['pending', 'standard', '']);
  });

  test('that is paid brings the tier, told once however often it is read', () => {
    const walk = active().reads(at(0)).reads(at(0), DAY_MS);
    expect(walk.state).toEqual(['active', 'pro', 'activated']);
    expect(walk.row).toMatchObject({
      period_end: START + MONTH,
      invoice_nanos: 20n * 10n ** 9n,
      invoice_status: 'paid',
    });
  });

  test('that was paid and cancelled before anybody looked has both told, and the tier stays', () => {
    expect(new Walk().reads(at(0, 'cancelled')).state).toEqual(['cancelled', 'standard', 'activated,cancelled']);
    expect(new Walk().reads(at(0, 'cancelled', { lastInvoice: null })).state).toEqual(['abandoned', 'standard', '']);
  });

  test('that is first read when a renewal failed was active, and owes', () => {
    expect(new Walk().reads(at(1, 'past_due'), MONTH).state).toEqual(['past_due', 'pro', 'activated']);
    expect(new Walk().reads(at(1, 'past_due'), MONTH).reads(at(1)).told).toEqual(['activated', 'renewed']);
  });
});

test.each([{ amountMinor: 1_999 }, { amountMinor: 2_001 }, { currency: 'EUR' }])(
  '%j is not the price, and buys nothing',
  (other) => {
    const invoice = (month: number) => ({ lastInvoice: { ...(at(month).lastInvoice as InvoiceState), ...other } });
    expect(new Walk().reads(at(0, 'active', invoice(0))).state).toEqual(['pending', 'standard', '']);
    const owing = active().reads(at(1, 'active', invoice(1)), MONTH);
    expect([...owing.state, owing.row.invoice_status]).toEqual(['past_due', 'pro', 'activated', 'review']);
    expect(owing.reads(at(1), DAY_MS).state).toEqual(['active', 'pro', 'activated,renewed']);
  },
);

describe('a renewal', () => {
  test('is told once for each invoice that is paid, and not before it is', () => {
    const open = { ...at(1).lastInvoice, status: 'open' } as SubscriptionState['lastInvoice'];
    const walk = active().reads(at(1, 'active', { lastInvoice: open }), MONTH);
    expect(walk.told).toEqual(['activated']);
    walk.reads(at(1), 3_600_000).reads(at(1)).reads(at(2), MONTH).reads(at(2));
    expect(walk.state).toEqual(['active', 'pro', 'activated,renewed,renewed']);
  });

  test('that fails leaves the tier for 7 days with mails on day 0, 3 and 6, then it is cancelled', () => {
    const walk = active().reads(at(1, 'past_due'), MONTH);
    const mails = [walk.row.reminders];
    for (let day = 1; day <= 6; day += 1) {
      expect(walk.reads(at(1, 'past_due'), DAY_MS).state).toEqual(['past_due', 'pro', 'activated']);
      mails.push(walk.row.reminders);
    }
    expect(mails).toEqual([1, 1, 1, 2, 2, 2, 3]);
    walk.reads(at(1, 'past_due'), DAY_MS);
    expect(walk.state).toEqual(['cancelled', 'standard', 'activated,cancelled']);
    expect(walk.row).toMatchObject({ cancel_reason: 'payment_failed', wish: 'cancel_now' });
  });

  test('that is paid within the 7 days goes on, and the next failure has its own', () => {
    const walk = active()
      .reads(at(1, 'past_due'), MONTH)
      .reads(at(1), 5 * DAY_MS);
    expect(walk.state).toEqual(['active', 'pro', 'activated,renewed']);
    expect(walk.reads(at(2, 'past_due'), MONTH - 5 * DAY_MS).row).toMatchObject({ status: 'past_due', reminders: 1 });
  });

  test('that the provider gives up is payment_failed', () => {
    const walk = active()
      .reads(at(1, 'past_due'), MONTH)
      .reads(at(1, 'cancelled', { lastInvoice: null }), DAY_MS);
    expect([...walk.state, walk.row.cancel_reason]).toEqual([
      'cancelled',
      'standard',
      'activated,cancelled',
      'payment_failed',
    ]);
  });
});

describe('cancelling', () => {
  test('at the end of the period keeps the tier until then, and can be taken back', () => {
    const walk = active()
      .take(cancelLater)
      .reads(at(0, 'active', { cancelAtPeriodEnd: true }));
    expect([...walk.state, walk.row.cancel_reason]).toEqual(['active', 'pro', 'activated', 'requested']);
    walk.take(resume).reads(at(0)).reads(at(1), MONTH);
    expect([...walk.state, walk.row.cancel_reason]).toEqual(['active', 'pro', 'activated,renewed', null]);
    walk.take(cancelLater).reads(at(1, 'cancelled'), MONTH);
    expect([...walk.state, walk.row.cancel_reason]).toEqual([
      'cancelled',
      'standard',
      'activated,renewed,cancelled',
      'requested',
    ]);
  });

  test('holds at the promised moment also where the provider learned of it late and renewed', () => {
    const walk = active()
      .take(cancelLater)
      .reads(at(1, 'active', { cancelAtPeriodEnd: true }), MONTH);
    expect(walk.state).toEqual(['cancelled', 'standard', 'activated,cancelled']);
    expect(walk.row).toMatchObject({ cancel_reason: 'requested', wish: 'cancel_now', wish_number: 2 });
  });

  test('at once is final: what was read before, or comes late, changes nothing', () => {
    const walk = active().take((row) => end(row, 'requested'));
    const ended = { ...walk.row };
    walk
      .reads(at(1), MONTH, { fulfilled: false })
      .take(resume)
      .take(cancelLater)
      .take((row) => end(row, 'operator'));
    expect([walk.row, walk.told, walk.tier]).toEqual([ended, ['activated', 'cancelled'], 'standard']);
  });

  test('at the provider’s dashboard is the operator’s', () => {
    expect(active().reads(at(0, 'cancelled')).row.cancel_reason).toBe('operator');
    const later = active().reads(at(0, 'active', { cancelAtPeriodEnd: true }));
    expect(later.row).toMatchObject({ status: 'active', cancel_reason: 'operator' });
    expect(later.reads(at(0), DAY_MS).row.cancel_reason).toBeNull();
  });
});

describe('the operator’s tier', () => {
  test('below what is bought ends the subscription', () => {
    const walk = active().take((row) => regard(row, 'standard'));
    expect([...walk.state, walk.row.cancel_reason]).toEqual([
      'cancelled',
      'standard',
      'activated,cancelled',
      'operator',
    ]);
  });

  test('above it holds while it runs, and after it', () => {
    const walk = active().take((row) => regard(row, 'enterprise'));
    expect(walk.state).toEqual(['active', 'enterprise', 'activated']);
    walk.reads(at(1), MONTH).take((row) => end(row, 'requested'));
    expect(walk.state).toEqual(['cancelled', 'enterprise', 'activated,renewed,cancelled']);
  });

  test('that the account had before is what it falls back to', () => {
    const walk = new Walk();
    walk.tier = 'pro';
    walk.row = { ...pending, tier: 'enterprise' };
    expect(walk.reads(at(0)).tier).toBe('enterprise');
    expect(walk.take((row) => end(row, 'requested')).tier).toBe('pro');
  });
});

test('what was bought with test money ends where a live provider is', () => {
  const walk = active().take(outlive);
  expect([...walk.state, walk.row.wish]).toEqual(['cancelled', 'standard', 'activated,cancelled', null]);
  expect(new Walk().take(outlive).state).toEqual(['abandoned', 'standard', '']);
});

// Whatever happens in whatever order, read once, twice, late or not at all: the tier is the subscription's, and what is told makes sense.
test('in every order of what may happen the tier is that of the subscription, and each thing is told once', () => {
  const happenings: readonly ((walk: Walk) => Walk)[] = [
    (walk) => walk.reads(at(0)),
    (walk) => walk.reads(at(1), MONTH),
    (walk) => walk.reads(at(1, 'past_due'), MONTH),
    (walk) => walk.reads(at(1, 'past_due'), 8 * DAY_MS),
    (walk) => walk.reads(at(2), MONTH),
    (walk) => walk.reads(at(1, 'cancelled'), DAY_MS),
    (walk) => walk.take(cancelLater),
    (walk) => walk.take(resume),
    (walk) => walk.take((row) => end(row, 'requested')),
    (walk) => walk.reads(at(0, 'active', { cancelAtPeriodEnd: true })),
    (walk) => walk.reads(null, 0, { checkout: null }),
  ];
  let orders = 0;
  const go = (walk: Walk, depth: number): void => {
    const { row, told, tier } = walk;
    expect(tier).toBe(isLive(row) ? 'pro' : 'standard');
    expect(told.filter((what) => what === 'activated').length).toBeLessThanOrEqual(1);
    expect(told.filter((what) => what === 'cancelled').length).toBe(row.status === 'cancelled' ? 1 : 0);
    if (told.length > 0) expect(told[0]).toBe('activated');
    if (told.includes('cancelled')) expect(told.at(-1)).toBe('cancelled');
    expect(told.filter((what) => what === 'renewed').length).toBeLessThanOrEqual(2);
    expect(nextCheckMs(row, walk.nowMs) === null).toBe(row.wish === null && !isLive(row) && row.status !== 'pending');
    orders += 1;
    if (depth === 0) return;
    for (const happen of happenings) {
      const branch = Object.assign(new Walk(), { row, tier, nowMs: walk.nowMs });
      branch.told.push(...told);
      go(happen(branch), depth - 1);
    }
  };
  go(new Walk(), 4);
  expect(orders).toBe(1 + 11 + 11 ** 2 + 11 ** 3 + 11 ** 4);
});
