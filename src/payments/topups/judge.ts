// Decides a top-up's next state from its payment at the provider. Pure. Money that arrived is credited whatever the row said before, unless
// it needs a review first. A credited top-up stays credited.
import { DAY_MS, HOUR_MS } from '../../lib/time.ts';
import type { PaymentState } from '../../vendors/payments/port.ts';
import { earlyCheckMs } from '../at-provider.ts';
import type { TopupRow } from './store.ts';

type Payment = Pick<PaymentState, 'status' | 'amountMinor' | 'currency' | 'failureCode'>;

/** `succeeded` is to be credited by the caller. */
export type Judgement = Pick<TopupRow, 'status' | 'failure_code' | 'review_reason'>;

/** `payment` null: the provider does not know of one. */
export function judge(
  topup: TopupRow,
  payment: Payment | null,
  { nowMs, reviewAboveNanos }: { readonly nowMs: number; readonly reviewAboveNanos: bigint | null },
): Judgement {
  const { status, failure_code, review_reason } = topup;
  if (status === 'succeeded') return { status, failure_code, review_reason };
  if (payment?.status === 'paid' || payment?.status === 'review')
    return judgeArrived(topup, reasonToReview(topup, payment, reviewAboveNanos));
  if (payment?.status === 'processing') return { status, failure_code: null, review_reason };
  if (status === 'failed' || status === 'expired') return { status, failure_code, review_reason };
  if (payment?.status === 'failed')
    return { status: 'failed', failure_code: payment.failureCode ?? 'payment_failed', review_reason };
  // What was there to be examined has gone again.
  if (status === 'review')
    return { status: payment?.status === 'expired' ? 'failed' : status, failure_code, review_reason };
  if (payment?.status === 'expired' || topup.expires_at <= nowMs)
    return { status: 'expired', failure_code: 'expired', review_reason };
  return { status, failure_code: payment?.failureCode ?? null, review_reason };
}

function reasonToReview(topup: TopupRow, payment: Payment, above: bigint | null): TopupRow['review_reason'] {
  if (payment.status === 'review') return 'provider';
  if (payment.currency !== topup.currency || BigInt(payment.amountMinor) !== topup.charge_minor) return 'mismatch';
  return above !== null && topup.amount_nanos > above ? 'amount' : null;
}

function judgeArrived({ review_verdict }: TopupRow, reason: TopupRow['review_reason']): Judgement {
  if (review_verdict === 'rejected') return { status: 'failed', failure_code: 'rejected', review_reason: reason };
  if (reason === null || review_verdict === 'approved')
    return { status: 'succeeded', failure_code: null, review_reason: reason };
  return { status: 'review', failure_code: null, review_reason: reason };
}

/** How long a payment is read without a hint when nothing of it is open. */
export const watchedMs = 7 * DAY_MS;

/**
 * When the payment is read again, hints or none: 1, 5 and 15 minutes after the beginning, hourly to a day after the link expires, then
 * daily for a week, or as long as it is on its way or examined, or a refund or dispute of it is not decided. Null: never again.
 */
export function nextCheckMs(
  topup: Pick<TopupRow, 'created_at' | 'expires_at' | 'status' | 'return_open'>,
  nowMs: number,
): number | null {
  const early = earlyCheckMs(topup.created_at, nowMs);
  if (early !== null) return early;
  const hourlyUntil = topup.expires_at + DAY_MS;
  if (nowMs < hourlyUntil) return nowMs + HOUR_MS;
  const isOpen = topup.status === 'pending' || topup.status === 'review' || topup.return_open;
  return isOpen || nowMs < hourlyUntil + watchedMs ? nowMs + DAY_MS : null;
}
