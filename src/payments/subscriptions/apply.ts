// Applies a step of a subscription as one transaction under the wallet's lock: its row, the account's tier, the events and the mails.

import { findAccount, setTier } from '../../core/accounts/accounts.ts';
import { openTurn } from '../../core/background/turns.ts';
import { lockAccount } from '../../core/callers/lock.ts';
import { sendEvents } from '../../core/events/outbox.ts';
import type { Transaction } from '../../db/database.ts';
import { keepNewRefs } from '../refs.ts';
import { type Moment, nextCheckMs, type Step, type Told, tierAfter } from './machine.ts';
import { subscriptionEventRecord } from './record.ts';
import { remind } from './remind.ts';
import { currentSubscription, findSubscription, type SubscriptionRow, saveSubscription } from './store.ts';

export const SUBSCRIPTIONS_WORK = 'payments.subscriptions';

const EVENTS: Readonly<Record<Told, string>> = {
  activated: 'subscription.activated',
  renewed: 'subscription.renewed',
  cancelled: 'subscription.cancelled',
};

/** A subscription by its names, and the attempt that reads it: what was read while another began is not applied. */
export interface SubscriptionAttempt {
  readonly accountId: string;
  readonly id: string;
  readonly attempt: number;
}

type Change = (row: SubscriptionRow, moment: Moment) => Step;

/** Takes a step of the subscription that the attempt is of. Answers it afterwards; null: another attempt has begun, or there is none. */
export async function applyAttempt(
  tx: Transaction,
  { accountId, id, attempt }: SubscriptionAttempt,
  change: Change,
): Promise<SubscriptionRow | null> {
  const nowMs = await lockAccount(tx, accountId);
  const row = nowMs === null ? null : await findSubscription(tx, accountId, id);
  if (nowMs === null || row === null || row.attempt !== attempt) return null;
  return take(tx, row, nowMs, change);
}

/** Takes a step of what the account has, on somebody's word. Answers it afterwards; null: the account has none. */
export async function changeCurrent(
  tx: Transaction,
  accountId: string,
  change: Change,
): Promise<SubscriptionRow | null> {
  const nowMs = await lockAccount(tx, accountId);
  const row = nowMs === null ? null : await currentSubscription(tx, accountId);
  if (nowMs === null || row === null) return null;
  // What anybody reads at the provider meanwhile is older than this.
  return take(tx, { ...row, attempt: row.attempt + 1 }, nowMs, change);
}

async function take(tx: Transaction, before: SubscriptionRow, nowMs: number, change: Change): Promise<SubscriptionRow> {
  const { account_id: accountId, subscription_id: id } = before;
  const account = await findAccount(tx, accountId);
  if (account === null) throw new Error(`account ${accountId} is gone`);
  const { row, told } = change(before, { nowMs, tier: account.tier });
  const after = { ...row, updated_at: nowMs };
  const known = [before.checkout_ref, before.subscription_ref];
  await keepNewRefs(tx, [after.checkout_ref, after.subscription_ref], known, { accountId, kind: 'subscription', id });
  sendEvents(
    tx,
    told.map((what) => eventOf(what, after)),
    nowMs,
  );
  if (after.reminders > before.reminders) await remind(tx, after, nowMs);
  const dueMs = nextCheckMs(after, nowMs);
  await saveSubscription(tx, after, dueMs);
  if (dueMs !== null) await openTurn(tx, accountId, SUBSCRIPTIONS_WORK, dueMs, { later: dueMs > nowMs });
  await setTier(tx, accountId, tierAfter(before, after, account.tier));
  return after;
}

function eventOf(told: Told, row: SubscriptionRow) {
  const object = subscriptionEventRecord(row);
  const data = { object: told === 'cancelled' ? { ...object, reason: row.cancel_reason } : object };
  return { accountId: row.account_id, type: EVENTS[told], data, requestId: null };
}
