// The operator's decision on a top-up under review. An approved one is credited from the payment as it was read; no provider is asked.

import { lockAccount } from '../../core/callers/lock.ts';
import type { Transaction } from '../../db/database.ts';
import { problem } from '../../problems/problem.ts';
import { decide } from './apply.ts';
import type { PaymentCore } from './create.ts';
import { findTopup, type TopupRow } from './store.ts';

/** Credits it. Answers the top-up afterwards; null: there is none. Throws STATE_CONFLICT when it is not under review. */
export function approveTopup(core: PaymentCore, accountId: string, topupId: string): Promise<TopupRow | null> {
  return core.db.transaction((tx) => reviewTopup(tx, accountId, topupId, 'approved'));
}

/**
 * Ends it as failed with `rejected`; nothing is credited, also when more of it is seen later. What was paid is paid back at the
 * provider's, by the operator. Answers and throws as approveTopup.
 */
export function rejectTopup(core: PaymentCore, accountId: string, topupId: string): Promise<TopupRow | null> {
  return core.db.transaction((tx) => reviewTopup(tx, accountId, topupId, 'rejected'));
}

/** The same in the caller's transaction. */
export async function reviewTopup(
  tx: Transaction,
  accountId: string,
  topupId: string,
  verdict: 'approved' | 'rejected',
): Promise<TopupRow | null> {
  const nowMs = await lockAccount(tx, accountId);
  const topup = nowMs === null ? null : await findTopup(tx, accountId, topupId);
  if (nowMs === null || topup === null) return null;
  if (topup.status !== 'review')
    throw problem('STATE_CONFLICT', { message: `The top-up is ${topup.status}, not under review.` });
  return decide(tx, topup, verdict, nowMs);
}
