// State of a sandbox subscription at a moment. Nothing runs: the state follows from the clock and from the card's behavior on later charges.
import type { SubscriptionState } from '../../vendors/payments/port.ts';
import { testCard } from './cards.ts';
import type { SubscriptionRow } from './store.ts';

/** The same day of a later month, or that month's last. */
export function monthsAfter(startMs: number, months: number): number {
  const start = new Date(startMs);
  const first = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + months, 1);
  const days = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + months + 1, 0)).getUTCDate();
  const withinMonthMs = startMs - Date.UTC(start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate());
  return first + (Math.min(start.getUTCDate(), days) - 1) * 86_400_000 + withinMonthMs;
}

const RETRY_MS = 3 * 86_400_000;

/**
 * Periods are calendar months. A card that pays later too renews each; with another one each renewal is owed until a person pays it. What
 * went back, and where it is paid, is not for the clock to say.
 */
export function subscriptionState(row: SubscriptionRow, card: string, nowMs: number): SubscriptionState {
  const until = row.cancel_at === null ? nowMs : Math.min(nowMs, row.cancel_at - 1);
  let period = 0;
  while (monthsAfter(row.started_at, period + 1) <= until) period += 1;
  const later = testCard(card)?.later ?? 'pay';
  const failureCode = period > row.paid_renewals && typeof later === 'object' ? later.failureCode : null;
  // What is not paid is not left behind: the first unpaid renewal stays the last invoice.
  const current = failureCode === null ? period : row.paid_renewals + 1;
  const startMs = monthsAfter(row.started_at, current);
  const isPending = nowMs < row.started_at;
  const isCancelled = row.cancel_at !== null && row.cancel_at <= nowMs;
  const ref = `${row.ref}_${current}`;
  return {
    ref: row.ref,
    status: isCancelled ? 'cancelled' : isPending ? 'pending' : failureCode === null ? 'active' : 'past_due',
    currentPeriodStartMs: startMs,
    currentPeriodEndMs: monthsAfter(row.started_at, current + 1),
    cancelAtPeriodEnd: row.cancel_at !== null && !isCancelled,
    lastInvoice: isPending
      ? null
      : {
          ref,
          status: failureCode === null ? 'paid' : 'failed',
          amountMinor: Number(row.amount_minor),
          currency: row.currency,
          atMs: startMs,
          paymentRef: failureCode === null ? ref : null,
          payUrl: null,
          refundedMinor: 0,
          dispute: null,
          nextAttemptMs: failureCode === null || isCancelled ? null : startMs + RETRY_MS,
          failureCode,
        },
  };
}
