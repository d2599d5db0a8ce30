// Records of a subscription for calls and for events. Events omit the link to pay.
import { usd } from '../../lib/money.ts';
import { iso, isoOrNull } from '../../lib/time.ts';
import { isLive } from './machine.ts';
import type { SubscriptionRow } from './store.ts';

export function subscriptionEventRecord(row: SubscriptionRow) {
  const { pay_url: _link, ...record } = subscriptionRecord(row);
  return record;
}

/** `row` null, or of a page that nobody paid at: there is no subscription. */
export function subscriptionRecord(row: SubscriptionRow | null) {
  if (row === null || row.status === 'abandoned') return none;
  return {
    subscription_id: row.subscription_id,
    status: row.status,
    tier: row.tier,
    label: row.label,
    price_usd: usd(row.price_nanos),
    current_period_start: isoOrNull(row.period_start),
    current_period_end: isoOrNull(row.period_end),
    cancel_at_period_end: isLive(row) && row.cancel_at_period_end,
    last_invoice: invoiceOf(row),
    pay_url: row.status === 'past_due' ? row.invoice_pay_url : null,
    test_mode: row.test_mode,
  };
}

const none = {
  subscription_id: null,
  status: 'none' as const,
  tier: null,
  label: null,
  price_usd: null,
  current_period_start: null,
  current_period_end: null,
  cancel_at_period_end: false,
  last_invoice: null,
  pay_url: null,
  test_mode: false,
};

function invoiceOf(row: SubscriptionRow) {
  const { invoice_status, invoice_nanos, invoice_at, invoice_next_at } = row;
  if (invoice_status === null || invoice_nanos === null || invoice_at === null) return null;
  return {
    status: invoice_status,
    amount_usd: usd(invoice_nanos),
    at: iso(invoice_at),
    next_attempt_at: isoOrNull(invoice_next_at),
    refunded_usd: usd(row.invoice_refunded_nanos),
    dispute: row.invoice_dispute,
  };
}
