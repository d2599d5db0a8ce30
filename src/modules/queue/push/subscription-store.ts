// SQL of push subscriptions, except the search for due ones (work-store.ts).

import type { Tier } from '../../../core/callers/tiers.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';

export interface SubscriptionRow {
  readonly account_id: string;
  readonly subscription_id: string;
  readonly queue_id: bigint;
  readonly url: string;
  readonly headers: Buffer | null;
  readonly secret: Buffer;
  readonly secret_last4: string;
  readonly visibility_timeout: number | null;
  readonly timeout_seconds: number;
  readonly max_in_flight: number;
  readonly created_at: number;
}

const columns = `s.account_id, s.subscription_id, s.queue_id, s.url, s.headers, s.secret, s.secret_last4, s.visibility_timeout,
          s.timeout_seconds, s.max_in_flight, s.created_at`;
const insertSubscription = statement(
  'push_insert',
  `INSERT INTO queue.subscription (account_id, subscription_id, queue_id, url, headers, secret, secret_last4, visibility_timeout,
                                   timeout_seconds, max_in_flight, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);
const selectSubscriptions = statement(
  'push_select_page',
  `SELECT ${columns}
     FROM queue.subscription s
    WHERE s.account_id = $1 AND s.queue_id = $2 AND s.subscription_id < $3
    ORDER BY s.subscription_id DESC
    LIMIT $4`,
);
const countOfQueue = statement(
  'push_count',
  `SELECT count(*) AS subscriptions FROM queue.subscription s WHERE s.account_id = $1 AND s.queue_id = $2`,
);
const deleteSubscription = statement(
  'push_delete',
  `WITH d AS (
     DELETE FROM queue.subscription s
      WHERE s.account_id = $1 AND s.subscription_id = $2
  RETURNING s.queue_id, s.holder, s.lease_until)
   SELECT q.name AS queue, d.holder, d.lease_until > statement_timestamp() AS driven
     FROM d JOIN queue.queue q ON q.account_id = $1 AND q.queue_id = d.queue_id`,
);
const deleteOfQueue = statement(
  'push_delete_of_queue',
  `DELETE FROM queue.subscription WHERE account_id = $1 AND queue_id = $2`,
);
// Who pushes: real time, not clock_now(): a test clock must not hand a subscription to two processes.
const takeLease = statement(
  'push_take_lease',
  `UPDATE queue.subscription s
      SET holder = $3, lease_until = statement_timestamp() + $4 * interval '1 millisecond'
    WHERE s.account_id = $1 AND s.subscription_id = $2 AND s.lease_until <= statement_timestamp()
RETURNING ${columns}, (SELECT q.name FROM queue.queue q WHERE q.account_id = $1 AND q.queue_id = s.queue_id) AS queue,
          (SELECT a.tier FROM core.account a WHERE a.account_id = $1) AS tier`,
);
const renewLease = statement(
  'push_renew_lease',
  `UPDATE queue.subscription
      SET lease_until = statement_timestamp() + $4 * interval '1 millisecond'
    WHERE account_id = $1 AND subscription_id = $2 AND holder = $3 AND lease_until > statement_timestamp()`,
);
const dropLease = statement(
  'push_drop_lease',
  `UPDATE queue.subscription SET lease_until = '-infinity' WHERE account_id = $1 AND subscription_id = $2 AND holder = $3`,
);
const confirmLease = statement(
  'push_confirm_lease',
  `SELECT 1 AS held
     FROM queue.subscription s, core.wallet w
    WHERE s.account_id = $1 AND s.subscription_id = $2 AND s.holder = $3 AND s.lease_until > statement_timestamp()
      AND w.account_id = $1 AND NOT w.suspended`,
);

export async function addSubscription(tx: Queryable, row: SubscriptionRow): Promise<void> {
  await tx.query(insertSubscription, [
    row.account_id,
    row.subscription_id,
    row.queue_id,
    row.url,
    row.headers,
    row.secret,
    row.secret_last4,
    row.visibility_timeout,
    row.timeout_seconds,
    row.max_in_flight,
    timestamp(row.created_at),
  ]);
}

/** Subscriptions of a queue with ids below `before`, newest first. */
export async function listSubscriptions(
  db: Queryable,
  accountId: string,
  queueId: bigint,
  before: string,
  limit: number,
): Promise<SubscriptionRow[]> {
  return (await db.query<SubscriptionRow>(selectSubscriptions, [accountId, queueId, before, limit])).rows;
}

export async function subscriptionCount(db: Queryable, accountId: string, queueId: bigint): Promise<number> {
  const { rows } = await db.query<{ subscriptions: bigint }>(countOfQueue, [accountId, queueId]);
  return Number(rows[0]?.subscriptions ?? 0n);
}

export interface Removed {
  /** Its queue. */
  readonly queue: string;
  /** Process that pushed last. */
  readonly holder: string;
  /** Whether it may push now. */
  readonly driven: boolean;
}

/** Null when there is no such subscription. */
export async function removeSubscription(
  tx: Queryable,
  accountId: string,
  subscriptionId: string,
): Promise<Removed | null> {
  return (await tx.query<Removed>(deleteSubscription, [accountId, subscriptionId])).rows[0] ?? null;
}

export async function removeSubscriptionsOf(tx: Queryable, accountId: string, queueId: bigint): Promise<void> {
  await tx.query(deleteOfQueue, [accountId, queueId]);
}

/** A subscription with its queue's name and its account's tier, leased to this process. */
export interface LeasedSubscription extends SubscriptionRow {
  readonly queue: string;
  readonly tier: Tier;
}

export interface LeaseId {
  readonly accountId: string;
  readonly subscriptionId: string;
  /** This process. */
  readonly holder: string;
}

const idOf = ({ accountId, subscriptionId, holder }: LeaseId) => [accountId, subscriptionId, holder];

/** Null when another process pushes it, or it is gone. */
export async function leaseSubscription(
  db: Queryable,
  id: LeaseId,
  leaseMs: number,
): Promise<LeasedSubscription | null> {
  const { rows } = await db.query<LeasedSubscription>(takeLease, [...idOf(id), leaseMs]);
  return rows[0] ?? null;
}

/** False when it is gone, or the lease is over. */
export async function renewSubscriptionLease(db: Queryable, id: LeaseId, leaseMs: number): Promise<boolean> {
  return (await db.query(renewLease, [...idOf(id), leaseMs])).count === 1;
}

/** Lets another process take over at once. */
export async function dropSubscriptionLease(db: Queryable, id: LeaseId): Promise<void> {
  await db.query(dropLease, idOf(id));
}

/** Whether it exists, is leased to this process, and its account is not suspended. */
export async function holdsSubscription(db: Queryable, id: LeaseId): Promise<boolean> {
  return (await db.query(confirmLease, idOf(id))).count === 1;
}
