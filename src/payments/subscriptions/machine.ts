// State machine of a subscription, without effects. A reading at the provider, or a requested change, gives the next row, the notifications
// and the tier. An ended subscription is final. While one runs, the account's tier is the better of the bought tier and its own.

import { isTierAtLeast, type Tier } from '../../core/callers/tiers.ts';
import { DAY_MS } from '../../lib/time.ts';
import type { InvoiceState, PaymentState, SubscriptionState } from '../../vendors/payments/port.ts';
import { earlyCheckMs } from '../at-provider.ts';
import { minorOfNanos, nanosOfMinor } from '../money.ts';
import type { SubscriptionRow } from './store.ts';

/** An unpaid renewal leaves the tier so long. */
export const GRACE_MS = 7 * DAY_MS;
/** Days after the failure on which the owner gets a mail. */
const REMINDER_DAYS = [0, 3, 6];

export type Told = 'activated' | 'renewed' | 'cancelled';
type EndReason = NonNullable<SubscriptionRow['cancel_reason']>;
export type Wish = NonNullable<SubscriptionRow['wish']>;

export interface Step {
  readonly row: SubscriptionRow;
  readonly told: readonly Told[];
}

/** `checkout` null: the provider does not know of one; `subscription` null: nothing has come of the checkout yet. */
export interface Seen {
  readonly checkout: Pick<PaymentState, 'ref' | 'status' | 'method'> | null;
  readonly subscription: SubscriptionState | null;
  /** What was wished of it was done at the provider before this was read. */
  readonly fulfilled: boolean;
}

export interface Moment {
  readonly nowMs: number;
  /** Of the account, before. */
  readonly tier: Tier;
}

export function isLive({ status }: Pick<SubscriptionRow, 'status'>): boolean {
  return status === 'active' || status === 'past_due';
}

function isOver({ status }: SubscriptionRow): boolean {
  return status === 'cancelled' || status === 'abandoned';
}

/** What the account's tier becomes with the step. */
export function tierAfter(before: SubscriptionRow, after: SubscriptionRow, tier: Tier): Tier {
  if (isLive(after)) return isTierAtLeast(after.fallback_tier, after.tier) ? after.fallback_tier : after.tier;
  return isLive(before) ? after.fallback_tier : tier;
}

/** The row as what was read makes it. */
export function see({ wish, ...rest }: SubscriptionRow, { fulfilled, ...seen }: Seen, moment: Moment): Step {
  const row = { ...rest, wish: fulfilled ? null : wish };
  if (isOver(row)) return { row, told: [] };
  if (row.status !== 'pending')
    return seen.subscription === null ? { row, told: [] } : run(row, seen.subscription, moment);
  const kept = {
    ...row,
    checkout_ref: row.checkout_ref ?? seen.checkout?.ref ?? null,
    method_ref: seen.checkout?.method?.ref ?? row.method_ref,
  };
  return begin(kept, seen, moment);
}

function begin(row: SubscriptionRow, { checkout, subscription }: Omit<Seen, 'fulfilled'>, moment: Moment): Step {
  const isGone = checkout === null || checkout.status === 'expired' || checkout.status === 'failed';
  if (subscription === null) return { row: isGone ? { ...row, status: 'abandoned' } : row, told: [] };
  if (subscription.status === 'pending') return { row, told: [] };
  const invoice = subscription.lastInvoice;
  const invoiceStatus = invoice === null ? null : statusOf(row, invoice);
  const isPaid = invoiceStatus === 'paid';
  if (subscription.status === 'cancelled' && !isPaid) return { row: { ...row, status: 'abandoned' }, told: [] };
  if (invoiceStatus === 'review') return { row: { ...row, ...invoiceOf(row, invoice) }, told: [] };
  const active: SubscriptionRow = {
    ...row,
    status: 'active',
    fallback_tier: moment.tier,
    subscription_ref: subscription.ref,
    // What runs is paid to here; an invoice that is not paid is of a later month.
    paid_invoice_ref: isPaid || subscription.status === 'active' ? (invoice?.ref ?? '') : '',
  };
  const { row: after, told } = run(active, subscription, moment);
  return { row: after, told: ['activated', ...told] };
}

function run(row: SubscriptionRow, state: SubscriptionState, moment: Moment): Step {
  const endsMs = row.cancel_at_period_end ? row.period_end : null;
  // The promised end holds also where the provider learned of it late.
  if (state.status !== 'cancelled' && endsMs !== null && moment.nowMs >= endsMs)
    return { row: withWish(over(row, row.cancel_reason ?? 'operator'), 'cancel_now'), told: ['cancelled'] };
  // Older than what is known: a period that is over says nothing but that all has ended.
  const isOld = state.currentPeriodStartMs < (row.period_start ?? 0);
  if (isOld && state.status !== 'cancelled') return { row, told: [] };
  const invoice = isOld ? null : state.lastInvoice;
  const invoiceStatus = invoice === null ? null : statusOf(row, invoice);
  const paidRef = invoice !== null && invoiceStatus === 'paid' ? invoice.ref : row.paid_invoice_ref;
  const told: Told[] = paidRef === row.paid_invoice_ref ? [] : ['renewed'];
  const next: SubscriptionRow = {
    ...row,
    ...(isOld ? {} : { period_start: state.currentPeriodStartMs, period_end: state.currentPeriodEndMs }),
    ...invoiceOf(row, invoice),
    paid_invoice_ref: paidRef,
    cancel_at_period_end: state.cancelAtPeriodEnd,
    cancel_reason: state.cancelAtPeriodEnd ? (row.cancel_reason ?? 'operator') : null,
  };
  if (state.status === 'cancelled') {
    const reason = row.cancel_reason ?? (row.status === 'past_due' ? 'payment_failed' : 'operator');
    return { row: over(next, reason), told: [...told, 'cancelled'] };
  }
  if (invoice?.dispute === 'lost')
    return { row: withWish(over(next, 'payment_failed'), 'cancel_now'), told: [...told, 'cancelled'] };
  if (state.status !== 'past_due' && invoiceStatus !== 'review')
    return { row: { ...next, status: 'active', past_due_since: null, reminders: 0 }, told };
  const owing = owe(next, moment.nowMs);
  return { row: owing, told: owing.status === 'cancelled' ? [...told, 'cancelled'] : told };
}

function owe(row: SubscriptionRow, nowMs: number): SubscriptionRow {
  const sinceMs = row.past_due_since ?? nowMs;
  if (nowMs >= sinceMs + GRACE_MS) return withWish(over(row, 'payment_failed'), 'cancel_now');
  const reminders = REMINDER_DAYS.filter((day) => nowMs >= sinceMs + day * DAY_MS).length;
  return { ...row, status: 'past_due', past_due_since: sinceMs, reminders: Math.max(reminders, row.reminders) };
}

/** Ended on this side, whatever the provider says. */
export function end(row: SubscriptionRow, reason: EndReason): Step {
  if (!isLive(row)) return { row, told: [] };
  return { row: withWish(over(row, reason), 'cancel_now'), told: ['cancelled'] };
}

/** Its provider is no more to be asked. */
export function outlive(row: SubscriptionRow): Step {
  const ended: SubscriptionRow = isLive(row) ? over(row, 'operator') : row;
  const status = row.status === 'pending' ? 'abandoned' : ended.status;
  return { row: { ...ended, status, wish: null }, told: isLive(row) ? ['cancelled'] : [] };
}

export function cancelLater(row: SubscriptionRow): Step {
  if (!isLive(row) || row.cancel_at_period_end) return { row, told: [] };
  return {
    row: withWish({ ...row, cancel_at_period_end: true, cancel_reason: 'requested' }, 'cancel_later'),
    told: [],
  };
}

export function resume(row: SubscriptionRow): Step {
  if (!isLive(row) || !row.cancel_at_period_end) return { row, told: [] };
  return { row: withWish({ ...row, cancel_at_period_end: false, cancel_reason: null }, 'resume'), told: [] };
}

/** The operator gives the account a tier: a lesser one ends what runs, else it is what stays when that ends. */
export function regard(row: SubscriptionRow, tier: Tier): Step {
  if (!isLive(row)) return { row, told: [] };
  const given = { ...row, fallback_tier: tier };
  return isTierAtLeast(tier, row.tier) ? { row: given, told: [] } : end(given, 'operator');
}

function over(row: SubscriptionRow, reason: EndReason): SubscriptionRow {
  return {
    ...row,
    status: 'cancelled',
    cancel_reason: reason,
    cancel_at_period_end: false,
    invoice_next_at: null,
    invoice_pay_url: null,
  };
}

function withWish(row: SubscriptionRow, wish: Wish): SubscriptionRow {
  return { ...row, wish, wish_number: row.wish_number + 1 };
}

/** `review`: something else was paid than the price, which counts as not paid until a person has looked at it. */
function statusOf(
  { price_nanos }: SubscriptionRow,
  { status, amountMinor, currency }: InvoiceState,
): NonNullable<SubscriptionRow['invoice_status']> {
  const isPrice = currency === 'USD' && amountMinor === minorOfNanos(price_nanos, 10n ** 9n, 'USD');
  return status === 'paid' && !isPrice ? 'review' : status;
}

function invoiceOf(row: SubscriptionRow, invoice: InvoiceState | null) {
  if (invoice === null) return {};
  const nanos = (minor: number) => (invoice.currency === 'USD' ? nanosOfMinor(minor) : row.price_nanos);
  return {
    invoice_status: statusOf(row, invoice),
    invoice_nanos: nanos(invoice.amountMinor),
    invoice_at: invoice.atMs,
    invoice_next_at: invoice.nextAttemptMs,
    invoice_pay_url: invoice.payUrl,
    invoice_refunded_nanos: invoice.refundedMinor === 0 ? 0n : nanos(invoice.refundedMinor),
    invoice_dispute: invoice.dispute,
  };
}

const HOUR_MS = DAY_MS / 24;

/**
 * When it is read again, hints or none. Open: after 1, 5 and 15 minutes, then hourly. Running: daily, at the end of the period and hourly
 * after it, at each mail's day and at the end of the grace. What the provider is to be told: now. Null: never again.
 */
export function nextCheckMs(row: SubscriptionRow, nowMs: number): number | null {
  if (row.wish !== null) return nowMs;
  if (isOver(row)) return null;
  const hourly = nowMs + HOUR_MS;
  if (row.status === 'pending') return earlyCheckMs(row.created_at, nowMs) ?? hourly;
  const since = row.past_due_since;
  const marks = since === null ? [] : [...REMINDER_DAYS.map((day) => since + day * DAY_MS), since + GRACE_MS];
  const usual =
    row.status === 'active' && row.invoice_status === 'paid' && nowMs < (row.period_end ?? 0) ? DAY_MS : HOUR_MS;
  return Math.min(nowMs + usual, ...[row.period_end ?? nowMs, ...marks].filter((atMs) => atMs > nowMs));
}
