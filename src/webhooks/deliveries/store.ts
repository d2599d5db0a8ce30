// SQL of deliveries for their owner: reads, redeliveries and cancellations. A change that makes one due, or ends one, holds the lock of the
// webhook or its line, in the order webhook, line, deliveries. So no claim misses one, and no two transactions wait for each other.

import { textArray } from '../../db/arrays.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { newId } from '../../lib/ids.ts';
import type { DeliveryRow, DeliveryStatus } from './record.ts';

export interface DeliveryFilter {
  readonly status: DeliveryStatus | null;
  readonly eventType: string | null;
}

const columns = `d.account_id, d.delivery_id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt, d.due_at, d.http_status,
          d.error_code, d.latency_ms, d.response_snippet, d.request_headers, d.attempts, d.created_at, d.finished_at`;

const selectPage = statement(
  'delivery_select_page',
  `SELECT ${columns}
     FROM core.delivery d
    WHERE d.account_id = $1 AND d.webhook_id = $2 AND ($3::text IS NULL OR d.delivery_id < $3)
      AND ($4::text IS NULL OR d.status = $4) AND ($5::text IS NULL OR d.event_type = $5)
      AND d.created_at > core.clock_now() - interval '30 days'
    ORDER BY d.delivery_id DESC
    LIMIT $6::int`,
);
const selectOne = statement(
  'delivery_select',
  `SELECT ${columns} FROM core.delivery d
    WHERE d.account_id = $1 AND d.delivery_id = $2 AND d.created_at > core.clock_now() - interval '30 days'`,
);
const endAll = statement(
  'delivery_end_all',
  `UPDATE core.delivery
      SET status = $3, due_at = NULL, finished_at = $4
    WHERE account_id = $1 AND webhook_id = ANY($2::text[]) AND due_at IS NOT NULL`,
);
const parkLines = statement(
  'delivery_park_lines',
  `UPDATE core.delivery_line SET due_at = NULL WHERE account_id = $1 AND webhook_id = ANY($2::text[])`,
);
const lockWebhook = statement(
  'delivery_lock_webhook',
  `SELECT w.webhook_id
     FROM core.webhook w
    WHERE w.account_id = $1
      AND w.webhook_id = (SELECT d.webhook_id FROM core.delivery d WHERE d.account_id = $1 AND d.delivery_id = $2)
      FOR SHARE`,
);
const copyDelivery = statement(
  'delivery_copy',
  `INSERT INTO core.delivery AS t (account_id, delivery_id, webhook_id, event_sequence, event_id, event_type, status, attempt,
                                   due_at, created_at)
   SELECT d.account_id, $3::text, d.webhook_id, d.event_sequence, d.event_id, d.event_type, 'pending', 0, $4::timestamptz, $4::timestamptz
     FROM core.delivery d
    WHERE d.account_id = $1 AND d.delivery_id = $2`,
);
const hasten = statement(
  'delivery_hasten',
  `UPDATE core.delivery SET due_at = $4
    WHERE account_id = $1 AND delivery_id = $2 AND status = 'pending' AND attempt = $3 AND due_at > $4`,
);
const openLine = statement(
  'delivery_open_line',
  `INSERT INTO core.delivery_line AS l (account_id, webhook_id, health, due_at)
   SELECT d.account_id, d.webhook_id, 0, $3::timestamptz
     FROM core.delivery d
    WHERE d.account_id = $1 AND d.delivery_id = $2
       ON CONFLICT (account_id, webhook_id) DO UPDATE SET due_at = least(l.due_at, excluded.due_at)`,
);

const deliveryIdPattern = /^whd_[0-9A-Za-z]{20,40}$/;

/** Deliveries of a webhook, newest first, before the id `before` (null: the newest); none older than 30 days. */
export async function listDeliveries(
  db: Queryable,
  accountId: string,
  webhookId: string,
  filter: DeliveryFilter,
  before: string | null,
  limit: number,
): Promise<DeliveryRow[]> {
  const values = [accountId, webhookId, before, filter.status, filter.eventType, limit];
  return (await db.query<DeliveryRow>(selectPage, values)).rows;
}

/** Null when the account has no such delivery, or it is older than 30 days. */
export async function readDelivery(db: Queryable, accountId: string, deliveryId: string): Promise<DeliveryRow | null> {
  if (!deliveryIdPattern.test(deliveryId)) return null;
  return (await db.query<DeliveryRow>(selectOne, [accountId, deliveryId])).rows[0] ?? null;
}

/**
 * Ends what is pending for a webhook, an attempt under way included: its outcome will change nothing any more.
 * In the transaction that disables or deletes the webhook, after that.
 */
export async function endDeliveries(
  tx: Transaction,
  accountId: string,
  webhookId: string,
  status: 'cancelled' | 'skipped',
  nowMs: number,
): Promise<void> {
  const webhookIds = textArray([webhookId]);
  await Promise.all([
    tx.query(parkLines, [accountId, webhookIds]),
    tx.query(endAll, [accountId, webhookIds, status, timestamp(nowMs)]),
  ]);
}

/**
 * Makes a pending delivery whose last attempt failed due now instead of after its pause, and answers it. `attempt`: of that last attempt, so
 * that an attempt which has begun meanwhile stays the only one. In the transaction of a change of the webhook.
 */
export async function sendNow(
  tx: Transaction,
  accountId: string,
  { delivery_id: deliveryId, attempt }: Pick<DeliveryRow, 'delivery_id' | 'attempt'>,
  nowMs: number,
): Promise<DeliveryRow | null> {
  const now = timestamp(nowMs);
  await tx.query(lockWebhook, [accountId, deliveryId]);
  const [, , due] = await Promise.all([
    tx.query(openLine, [accountId, deliveryId, now]),
    tx.query(hasten, [accountId, deliveryId, attempt, now]),
    tx.query<DeliveryRow>(selectOne, [accountId, deliveryId]),
  ]);
  tx.hint('deliveries');
  return due.rows[0] ?? null;
}

/**
 * Delivers the event of an earlier delivery again: a new delivery, due now, of the same event with the same id.
 * Null when there is no such delivery, or its webhook is gone.
 */
export async function redeliver(
  tx: Transaction,
  accountId: string,
  deliveryId: string,
  nowMs: number,
): Promise<DeliveryRow | null> {
  if (!deliveryIdPattern.test(deliveryId)) return null;
  const webhook = await tx.query(lockWebhook, [accountId, deliveryId]);
  if (webhook.count === 0) return null;
  const newDeliveryId = newId('whd_', nowMs);
  const [, , copied] = await Promise.all([
    tx.query(openLine, [accountId, deliveryId, timestamp(nowMs)]),
    tx.query(copyDelivery, [accountId, deliveryId, newDeliveryId, timestamp(nowMs)]),
    tx.query<DeliveryRow>(selectOne, [accountId, newDeliveryId]),
  ]);
  tx.hint('deliveries');
  return copied.rows[0] ?? null;
}
