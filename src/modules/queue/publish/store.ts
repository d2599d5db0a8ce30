import { int2Array, int8Array, textArray, timestampArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { DEDUPLICATION_WINDOW_MS } from '../limits.ts';
import type { StoredMessage } from './message.ts';

export const readQueues = statement(
  'publish_read_queues',
  `SELECT q.account_id, q.name, q.queue_id, q.type, coalesce(q.retention_seconds, q.message_retention_days * 86400) AS retention_seconds,
          coalesce(q.max_message_bytes, q.max_message_size_kb * 1024) AS max_message_bytes, q.delivery_delay_seconds, q.enable_priority
     FROM unnest($2::text[], $3::text[]) u(account_id, name), queue.queue q
    WHERE q.account_id = ANY($1::text[]) AND q.account_id = u.account_id AND q.name = u.name`,
);
export const readDedup = statement(
  'publish_read_dedup',
  `SELECT d.account_id, q.name, d.deduplication_id, d.answer
     FROM unnest($2::text[], $3::text[], $4::text[]) u(account_id, name, deduplication_id), queue.queue q, queue.dedup d
    WHERE q.account_id = ANY($1::text[]) AND q.account_id = u.account_id AND q.name = u.name
      AND d.account_id = ANY($1::text[]) AND d.account_id = u.account_id AND d.queue_id = q.queue_id
      AND d.deduplication_id = u.deduplication_id AND d.expires_at > core.clock_now()`,
);
const insertMessages = statement(
  'publish_insert_messages',
  `INSERT INTO queue.message AS m (account_id, queue_id, seq, visible_at, band, home_band, priority, leased, attempt,
                                   delivery_count, delivery_base, group_id, deduplication_id, headers, payload, sqs)
   SELECT w.account_id, u.queue_id, u.seq, u.visible_at, u.band, u.band, u.priority, false, 0, 0, 0,
          u.group_id, u.deduplication_id, u.headers, u.payload, u.sqs
     FROM core.wallet w, unnest($2::text[], $3::bigint[], $4::bigint[], $5::timestamptz[], $6::smallint[], $7::smallint[],
                                $8::text[], $9::text[], $10::text[], $11::text[], $12::text[])
          u(account_id, queue_id, seq, visible_at, band, priority, group_id, deduplication_id, headers, payload, sqs)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);
const insertDedup = statement(
  'publish_insert_dedup',
  `INSERT INTO queue.dedup AS d (account_id, queue_id, deduplication_id, answer, expires_at)
   SELECT w.account_id, u.queue_id, u.deduplication_id, u.answer, u.expires_at
     FROM core.wallet w, unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::timestamptz[])
          u(account_id, queue_id, deduplication_id, answer, expires_at)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);
// Records that are over give way. A live one does not: a rival that a large batch could not see makes the insert fail (23505),
// and the batch reads again.
const removeOldDedup = statement(
  'publish_remove_old_dedup',
  `DELETE FROM queue.dedup d
    USING unnest($2::text[], $3::bigint[], $4::text[]) u(account_id, queue_id, deduplication_id)
    WHERE d.account_id = ANY($1::text[]) AND d.account_id = u.account_id AND d.queue_id = u.queue_id
      AND d.deduplication_id = u.deduplication_id AND d.expires_at <= core.clock_now()`,
);

export function sendMessages(tx: Queryable, accounts: Buffer, stored: readonly StoredMessage[]): void {
  void tx.query(insertMessages, [
    accounts,
    textArray(stored.map((one) => one.accountId)),
    int8Array(stored.map((one) => one.queue.queue_id)),
    int8Array(stored.map((one) => one.seq)),
    timestampArray(stored.map((one) => one.visibleMs)),
    int2Array(stored.map((one) => one.band)),
    int2Array(stored.map((one) => one.message.priority ?? 0)),
    textArray(stored.map((one) => one.groupId)),
    textArray(stored.map((one) => one.message.deduplicationId)),
    textArray(stored.map((one) => one.message.headers)),
    textArray(stored.map((one) => one.message.payload)),
    textArray(stored.map((one) => one.message.sqs?.kept ?? null)),
  ]);
}

export function sendDedup(
  tx: Queryable,
  accounts: Buffer,
  dedup: readonly { stored: StoredMessage; text: string }[],
  nowMs: number,
): void {
  const ids = [
    accounts,
    textArray(dedup.map(({ stored }) => stored.accountId)),
    int8Array(dedup.map(({ stored }) => stored.queue.queue_id)),
    textArray(dedup.map(({ stored }) => stored.message.deduplicationId)),
  ];
  void tx.query(removeOldDedup, ids);
  void tx.query(insertDedup, [
    ...ids,
    textArray(dedup.map(({ text }) => text)),
    timestampArray(dedup.map(() => nowMs + DEDUPLICATION_WINDOW_MS)),
  ]);
}
