// A top-up's record for calls and events. Amounts are in major units. The link to pay is shown only to the caller, and only while it is usable.
import { usd } from '../../lib/money.ts';
import { iso, isoOrNull } from '../../lib/time.ts';
import { disputeOf } from '../clawbacks/follow.ts';
import { majorOf } from '../money.ts';
import type { TopupRow } from './store.ts';

/** Without the link: for events. */
export function topupEventRecord(row: TopupRow) {
  return {
    topup_id: row.topup_id,
    status: row.status,
    amount_usd: usd(row.amount_nanos),
    currency: row.currency,
    charge_amount: majorOf(row.charge_minor, row.currency),
    fx_rate: usd(row.fx_rate_nanos),
    expires_at: iso(row.expires_at),
    credited_at: isoOrNull(row.credited_at),
    grant_id: row.grant_id,
    failure_code: row.failure_code,
    review_reason: row.status === 'review' ? row.review_reason : null,
    refunded_usd: usd(row.refunded_nanos),
    dispute: disputeOf(row),
    test_mode: row.test_mode,
    provider: row.provider,
    created_at: iso(row.created_at),
  };
}

export function topupRecord(row: TopupRow) {
  const { expires_at, credited_at, ...rest } = topupEventRecord(row);
  return { ...rest, checkout_url: row.status === 'pending' ? row.checkout_url : null, expires_at, credited_at };
}
