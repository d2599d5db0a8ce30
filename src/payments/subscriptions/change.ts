// Changes of a subscription by the account's people and by the operator. They take effect here at once; the checks pass them on to the provider.

import { type Account, setTier } from '../../core/accounts/accounts.ts';
import type { Tier } from '../../core/callers/tiers.ts';
import type { Transaction } from '../../db/database.ts';
import { problem } from '../../problems/problem.ts';
import { changeCurrent } from './apply.ts';
import { cancelLater, end, regard, resume } from './machine.ts';
import type { SubscriptionRow } from './store.ts';

/**
 * Ends it now, or at the end of the paid period; nothing is refunded. Answers it, as it is where it is over; null: the account never had
 * one. Throws STATE_CONFLICT while it waits to be paid.
 */
export function cancelSubscription(
  tx: Transaction,
  accountId: string,
  atPeriodEnd: boolean,
): Promise<SubscriptionRow | null> {
  return changeCurrent(tx, accountId, (row) => {
    if (row.status === 'pending') throw conflict('is not paid yet: it ends by itself with its link');
    return atPeriodEnd ? cancelLater(row) : end(row, 'requested');
  });
}

/** Takes a cancellation at the end of the period back. Answers as cancelSubscription. Throws STATE_CONFLICT where it is over. */
export function resumeSubscription(tx: Transaction, accountId: string): Promise<SubscriptionRow | null> {
  return changeCurrent(tx, accountId, (row, { nowMs }) => {
    const isOver = row.cancel_at_period_end && row.period_end !== null && row.period_end <= nowMs;
    if (row.status === 'cancelled' || isOver) throw conflict('has ended: upgrade anew');
    return resume(row);
  });
}

/**
 * The operator's word on the tier. A subscription for more than it is cancelled; one for less runs on, and the tier stays when it ends.
 * Answers the account; null: there is none.
 */
export async function giveTier(tx: Transaction, accountId: string, tier: Tier): Promise<Account | null> {
  await changeCurrent(tx, accountId, (row) => regard(row, tier));
  return setTier(tx, accountId, tier);
}

function conflict(what: string) {
  return problem('STATE_CONFLICT', { message: `The subscription ${what}.` });
}
