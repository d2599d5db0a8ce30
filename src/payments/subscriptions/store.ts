// SQL of core.subscription: one row per subscription, from the opening of its page. Its price and tier never change.

import { dueTable } from '../../core/background/due-table.ts';
import type { Tier } from '../../core/callers/tiers.ts';
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';

export interface SubscriptionRow {
  readonly account_id: string;
  readonly subscription_id: string;
  readonly status: 'pending' | 'active' | 'past_due' | 'cancelled' | 'abandoned';
  readonly tier: Tier;
  readonly label: 'pro' | 'team' | 'enterprise';
  readonly price_nanos: bigint;
  readonly provider: string;
  readonly test_mode: boolean;
  readonly return_url: string | null;
  readonly fallback_tier: Tier;
  readonly checkout_ref: string | null;
  readonly checkout_url: string | null;
  readonly subscription_ref: string | null;
  readonly method_ref: string | null;
  readonly period_start: number | null;
  readonly period_end: number | null;
  readonly cancel_at_period_end: boolean;
  readonly cancel_reason: 'requested' | 'payment_failed' | 'operator' | null;
  readonly wish: 'cancel_now' | 'cancel_later' | 'resume' | null;
  readonly wish_number: number;
  readonly invoice_status: 'open' | 'paid' | 'failed' | 'review' | null;
  readonly invoice_nanos: bigint | null;
  readonly invoice_at: number | null;
  readonly invoice_next_at: number | null;
  readonly invoice_pay_url: string | null;
  readonly invoice_refunded_nanos: bigint;
  readonly invoice_dispute: 'open' | 'won' | 'lost' | null;
  readonly paid_invoice_ref: string | null;
  readonly past_due_since: number | null;
  readonly reminders: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly expires_at: number;
  readonly attempt: number;
}

const COLUMNS = `account_id, subscription_id, status, tier, label, price_nanos, provider, test_mode, return_url, fallback_tier, checkout_ref,
          checkout_url, subscription_ref, method_ref, period_start, period_end, cancel_at_period_end, cancel_reason, wish, wish_number,
          invoice_status, invoice_nanos, invoice_at, invoice_next_at, paid_invoice_ref, past_due_since, reminders, created_at,
          updated_at, expires_at, attempt, invoice_pay_url, invoice_refunded_nanos, invoice_dispute`;

const insert = statement(
  'subscription_insert',
  `INSERT INTO core.subscription (account_id, subscription_id, status, tier, label, price_nanos, provider, test_mode, return_url,
                                  fallback_tier, created_at, updated_at, expires_at, due_at)
   VALUES ($1, $2, 'pending', $3, $4, $5, $6, $7, $8, $9, $10, $10, $11, $12)`,
);
const find = statement(
  'subscription_find',
  `SELECT ${COLUMNS} FROM core.subscription WHERE account_id = $1 AND subscription_id = $2`,
);
// What is open or runs, else the newest that ever ran.
const current = statement(
  'subscription_current',
  `SELECT ${COLUMNS} FROM core.subscription
    WHERE account_id = $1 AND status <> 'abandoned'
    ORDER BY subscription_id DESC
    LIMIT 1`,
);
const update = statement(
  'subscription_update',
  `UPDATE core.subscription
      SET status = $3, fallback_tier = $4, checkout_ref = $5, checkout_url = $6, subscription_ref = $7, method_ref = $8, period_start = $9,
          period_end = $10, cancel_at_period_end = $11, cancel_reason = $12, wish = $13, wish_number = $14, invoice_status = $15,
          invoice_nanos = $16, invoice_at = $17, invoice_next_at = $18, paid_invoice_ref = $19, past_due_since = $20, reminders = $21,
          updated_at = $22, due_at = $23, attempt = $24, invoice_pay_url = $25, invoice_refunded_nanos = $26, invoice_dispute = $27
    WHERE account_id = $1 AND subscription_id = $2`,
);

/** Longer than a provider's answers take, retries included. */
export const LEASE_MS = 180_000;

/** A new attempt: what others read before it is not applied. */
export const subscriptionDue = dueTable({
  table: 'core.subscription',
  key: 'subscription_id',
  leaseMs: LEASE_MS,
  mayBeDue: `due_at IS NOT NULL OR status IN ('pending', 'active', 'past_due')`,
});

const paidWith = statement(
  'subscription_paid_with',
  `SELECT EXISTS (SELECT FROM core.subscription s
                   WHERE s.account_id = $1 AND s.method_ref = $2 AND s.status IN ('active', 'past_due')) AS found`,
);

export type NewSubscription = Pick<
  SubscriptionRow,
  | 'account_id'
  | 'subscription_id'
  | 'tier'
  | 'label'
  | 'price_nanos'
  | 'provider'
  | 'test_mode'
  | 'return_url'
  | 'fallback_tier'
  | 'created_at'
  | 'expires_at'
>;

export async function insertSubscription(tx: Queryable, row: NewSubscription, dueMs: number): Promise<void> {
  const what = [row.account_id, row.subscription_id, row.tier, row.label, row.price_nanos];
  const how = [row.provider, row.test_mode, row.return_url, row.fallback_tier];
  await tx.query(insert, [...what, ...how, timestamp(row.created_at), timestamp(row.expires_at), timestamp(dueMs)]);
}

export async function findSubscription(db: Queryable, accountId: string, id: string): Promise<SubscriptionRow | null> {
  return (await db.query<SubscriptionRow>(find, [accountId, id])).rows[0] ?? null;
}

/** The one that is open or runs, else the newest that ended; null: the account never had one. */
export async function currentSubscription(db: Queryable, accountId: string): Promise<SubscriptionRow | null> {
  return (await db.query<SubscriptionRow>(current, [accountId])).rows[0] ?? null;
}

/** Writes what may change of it; next due at `dueMs` (null: never). */
export async function saveSubscription(tx: Queryable, row: SubscriptionRow, dueMs: number | null): Promise<void> {
  await tx.query(update, [
    ...[row.account_id, row.subscription_id, row.status, row.fallback_tier, row.checkout_ref, row.checkout_url],
    ...[row.subscription_ref, row.method_ref, timestamp(row.period_start), timestamp(row.period_end)],
    ...[row.cancel_at_period_end, row.cancel_reason, row.wish, row.wish_number],
    ...[
      row.invoice_status,
      row.invoice_nanos,
      timestamp(row.invoice_at),
      timestamp(row.invoice_next_at),
      row.paid_invoice_ref,
    ],
    ...[timestamp(row.past_due_since), row.reminders, timestamp(row.updated_at), timestamp(dueMs), row.attempt],
    ...[row.invoice_pay_url, row.invoice_refunded_nanos, row.invoice_dispute],
  ]);
}

/** Whether a subscription that runs is paid with the provider's method. */
export async function isPaidWith(db: Queryable, accountId: string, methodRef: string): Promise<boolean> {
  return (await db.query<{ found: boolean }>(paidWith, [accountId, methodRef])).rows[0]?.found === true;
}
