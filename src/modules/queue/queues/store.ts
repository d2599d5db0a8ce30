// SQL of queues.

import { int8Array } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import type { QueueRow } from './records.ts';

export const queueColumns = `q.account_id, q.name, q.queue_id, q.type, coalesce(q.retention_seconds, q.message_retention_days * 86400) AS retention_seconds,
          coalesce(q.max_message_bytes, q.max_message_size_kb * 1024) AS max_message_bytes,
          q.visibility_timeout_default, q.delivery_delay_seconds, q.enable_priority, q.has_bands, q.dlq_id, q.former_dlq_ids,
          q.max_receive_count, q.sqs_name, q.sqs_settings, q.revision, q.created_at, q.updated_at,
          (SELECT d.name FROM queue.queue d WHERE d.account_id = $1 AND d.queue_id = q.dlq_id) AS dlq_name`;

const selectQueue = statement(
  'queue_select',
  `SELECT ${queueColumns} FROM queue.queue q WHERE q.account_id = $1 AND q.name = $2`,
);
const selectQueueById = statement(
  'queue_select_by_id',
  `SELECT ${queueColumns} FROM queue.queue q WHERE q.account_id = $1 AND q.queue_id = $2`,
);
// The share lock keeps settings and existence as they are until the transaction ends.
const shareQueue = statement(
  'queue_share',
  `SELECT ${queueColumns} FROM queue.queue q WHERE q.account_id = $1 AND q.name = $2 FOR SHARE OF q`,
);
const shareQueueById = statement(
  'queue_share_by_id',
  `SELECT ${queueColumns} FROM queue.queue q WHERE q.account_id = $1 AND q.queue_id = $2 FOR SHARE OF q`,
);
const selectQueues = statement(
  'queue_select_page',
  `SELECT ${queueColumns} FROM queue.queue q WHERE q.account_id = $1 AND q.name > $2 ORDER BY q.name LIMIT $3`,
);
// Every name sorts before `~`.
const selectPrefixed = statement(
  'queue_select_prefixed',
  `SELECT ${queueColumns} FROM queue.queue q
    WHERE q.account_id = $1 AND q.name > $2 AND q.name >= $3 AND q.name < $3 || '~'
    ORDER BY q.name LIMIT $4`,
);
const selectSourceQueues = statement(
  'queue_select_source_queues',
  `SELECT ${queueColumns} FROM queue.queue q WHERE q.account_id = $1 AND q.dlq_id = $2 AND q.name > $3 ORDER BY q.name LIMIT $4`,
);
const insertQueue = statement(
  'queue_insert',
  `INSERT INTO queue.queue (account_id, name, queue_id, type, retention_seconds, message_retention_days, max_message_bytes, max_message_size_kb,
                            visibility_timeout_default, delivery_delay_seconds, enable_priority, has_bands, dlq_id,
                            max_receive_count, created_at, updated_at, sqs_name, sqs_settings)
   VALUES ($1, $2, $3, $4, $5, ceil($5::int / 86400.0), $6, ceil($6::int / 1024.0), $7, $8, $9, $9, $10, $11, $12, $12, $13, $14)`,
);
const insertTotal = statement(
  'queue_insert_total',
  `INSERT INTO queue.total (account_id, queue_id, live, dead) VALUES ($1, $2, 0, 0)`,
);
const updateQueue = statement(
  'queue_update',
  `UPDATE queue.queue
      SET retention_seconds = $3, message_retention_days = ceil($3::int / 86400.0), max_message_bytes = $4, max_message_size_kb = ceil($4::int / 1024.0),
          sqs_settings = $12, visibility_timeout_default = $5, delivery_delay_seconds = $6,
          enable_priority = $7, has_bands = has_bands OR $7, dlq_id = $8, former_dlq_ids = $11::bigint[], max_receive_count = $9, updated_at = $10,
          revision = revision + 1
    WHERE account_id = $1 AND name = $2`,
);
const deleteQueue = statement('queue_delete', `DELETE FROM queue.queue WHERE account_id = $1 AND name = $2`);
const insertTombstone = statement(
  'queue_insert_tombstone',
  `INSERT INTO queue.tombstone (account_id, queue_id) VALUES ($1, $2)`,
);
const selectQueueId = statement(
  'queue_select_id',
  `SELECT q.queue_id FROM queue.queue q WHERE q.account_id = $1 AND q.queue_id = $2
    UNION ALL
   SELECT t.queue_id FROM queue.tombstone t WHERE t.account_id = $1 AND t.queue_id = $2`,
);
const selectSources = statement(
  'queue_select_sources',
  `SELECT name FROM queue.queue WHERE account_id = $1 AND dlq_id = $2 ORDER BY name LIMIT 5`,
);

export async function findQueue(db: Queryable, accountId: string, name: string): Promise<QueueRow | null> {
  return (await db.query<QueueRow>(selectQueue, [accountId, name])).rows[0] ?? null;
}

/** The queue as it is, unchanged until the transaction ends. Null when it does not exist. */
export async function holdQueue(tx: Queryable, accountId: string, name: string): Promise<QueueRow | null> {
  return (await tx.query<QueueRow>(shareQueue, [accountId, name])).rows[0] ?? null;
}

export async function holdQueueById(tx: Queryable, accountId: string, queueId: bigint): Promise<QueueRow | null> {
  return (await tx.query<QueueRow>(shareQueueById, [accountId, queueId])).rows[0] ?? null;
}

export async function findQueueById(db: Queryable, accountId: string, queueId: bigint): Promise<QueueRow | null> {
  return (await db.query<QueueRow>(selectQueueById, [accountId, queueId])).rows[0] ?? null;
}

/** Queues with names after `after`, by name. */
export async function listQueues(db: Queryable, accountId: string, after: string, limit: number): Promise<QueueRow[]> {
  return (await db.query<QueueRow>(selectQueues, [accountId, after, limit])).rows;
}

/** Queues whose names begin with `prefix` and come after `after`, by name. */
export async function queuesOf(
  db: Queryable,
  accountId: string,
  { prefix, after, limit }: { readonly prefix: string; readonly after: string; readonly limit: number },
): Promise<QueueRow[]> {
  return (await db.query<QueueRow>(selectPrefixed, [accountId, after, prefix, limit])).rows;
}

/** Queues whose dead-letter queue it is, with names after `after`, by name. */
export async function sourceQueues(
  db: Queryable,
  accountId: string,
  { dlqId, after, limit }: { readonly dlqId: bigint; readonly after: string; readonly limit: number },
): Promise<QueueRow[]> {
  return (await db.query<QueueRow>(selectSourceQueues, [accountId, dlqId, after, limit])).rows;
}

export interface QueueSettings {
  readonly retention_seconds: number;
  readonly max_message_bytes: number;
  readonly visibility_timeout_default: number;
  readonly delivery_delay_seconds: number;
  readonly enable_priority: boolean;
  readonly dlq_id: bigint | null;
  readonly max_receive_count: number;
  readonly sqs_settings: string | null;
}

export interface NewQueue extends QueueSettings {
  readonly accountId: string;
  readonly name: string;
  readonly queueId: bigint;
  readonly type: string;
  /** As a client of SQS spelled it; null: made natively. */
  readonly sqsName: string | null;
  readonly nowMs: number;
}

export async function addQueue(db: Queryable, queue: NewQueue): Promise<void> {
  await Promise.all([
    db.query(insertQueue, [
      queue.accountId,
      queue.name,
      queue.queueId,
      queue.type,
      queue.retention_seconds,
      queue.max_message_bytes,
      queue.visibility_timeout_default,
      queue.delivery_delay_seconds,
      queue.enable_priority,
      queue.dlq_id,
      queue.max_receive_count,
      timestamp(queue.nowMs),
      queue.sqsName,
      queue.sqs_settings,
    ]),
    db.query(insertTotal, [queue.accountId, queue.queueId]),
  ]);
}

export async function saveQueue(
  db: Queryable,
  before: QueueRow,
  settings: QueueSettings,
  nowMs: number,
): Promise<void> {
  await db.query(updateQueue, [
    before.account_id,
    before.name,
    settings.retention_seconds,
    settings.max_message_bytes,
    settings.visibility_timeout_default,
    settings.delivery_delay_seconds,
    settings.enable_priority,
    settings.dlq_id,
    settings.max_receive_count,
    timestamp(nowMs),
    int8Array([...formerDlqIds(before, settings.dlq_id)]),
    settings.sqs_settings,
  ]);
}

function formerDlqIds(before: QueueRow, dlqId: bigint | null): Set<bigint> {
  const former = new Set(before.former_dlq_ids);
  if (before.dlq_id !== null && before.dlq_id !== dlqId) former.add(before.dlq_id);
  return former;
}

/** The queue is gone at once; its messages are removed in the background. */
export async function removeQueue(db: Queryable, queue: QueueRow): Promise<void> {
  await Promise.all([
    db.query(deleteQueue, [queue.account_id, queue.name]),
    db.query(insertTombstone, [queue.account_id, queue.queue_id]),
  ]);
}

/** By a queue, or by the messages that a deleted one left behind. */
export async function isQueueIdTaken(db: Queryable, accountId: string, queueId: bigint): Promise<boolean> {
  return (await db.query(selectQueueId, [accountId, queueId])).count > 0;
}

/** Names of up to five queues that use `queueId` as their dead-letter queue. */
export async function sourcesOf(db: Queryable, accountId: string, queueId: bigint): Promise<string[]> {
  return (await db.query<{ name: string }>(selectSources, [accountId, queueId])).rows.map((row) => row.name);
}
