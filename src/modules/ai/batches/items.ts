// Batch items as rows of due work: claimed under a lease, renewed, retried, ended once. The attempt fences every change. The row of the batch is
// locked before that of an item.
import type { Claimed, LeasedJob, Wanted } from '../../../core/background/due-work.ts';
import { openTurn } from '../../../core/background/turns.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { sendEvents } from '../../../core/events/outbox.ts';
import { int4Array, textArray } from '../../../db/arrays.ts';
import type { Database, Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { ITEM_LEASE_MS } from '../limits.ts';
import { type BatchRow, type BatchStatus, batchRecord, type EarlyEnd, lockBatch } from './store.ts';

export const BATCHES = 'ai.batches';

export interface ItemRow {
  readonly batch_id: string;
  readonly item_no: number;
  readonly capability: 'ai.chat' | 'ai.embed';
  readonly request: Buffer;
  readonly attempt: number;
  readonly tries: number;
  readonly takeovers: number;
  readonly key_id: string;
  readonly status: BatchStatus;
  readonly ends_as: EarlyEnd | null;
  readonly kept_bytes: bigint;
}

/** An item whose lease this process has. */
export interface Item extends LeasedJob {
  readonly row: ItemRow;
}

/** Why an item failed, as its result tells it. */
export interface ItemError {
  readonly code: string;
  readonly message: string;
}

/** As it is kept of one item: vendors quote its request, so the message is encrypted. */
export interface SealedError {
  readonly code: string;
  /** Base64. */
  readonly sealed: string;
  /** Of what may be asked again. */
  readonly retry_after_ms?: number;
}

const claim = statement(
  'ai_item_claim',
  `WITH c AS MATERIALIZED (
     SELECT i.batch_id, i.item_no, core.clock_now() + $4 * interval '1 millisecond' AS lease_end
       FROM ai.batch_item i
      WHERE i.account_id = $1 AND i.due_at <= core.clock_now() AND i.batch_id || '.' || i.item_no <> ALL($3::text[])
        AND (i.leased OR i.takeovers > 0) = $5
      ORDER BY i.due_at, i.batch_id, i.item_no LIMIT $2 FOR UPDATE SKIP LOCKED)
   UPDATE ai.batch_item i
      SET due_at = c.lease_end, attempt = i.attempt + 1, leased = true, takeovers = i.takeovers + CASE WHEN i.leased THEN 1 ELSE 0 END
     FROM c, ai.batch b
    WHERE i.account_id = $1 AND i.batch_id = c.batch_id AND i.item_no = c.item_no AND b.account_id = $1 AND b.batch_id = c.batch_id
   RETURNING i.batch_id, i.item_no, i.capability, i.request, i.attempt, i.tries, i.takeovers, b.key_id, b.status, b.ends_as, b.kept_bytes`,
);
const findSuspect = statement(
  'ai_item_find_suspect',
  `SELECT 1 AS found FROM ai.batch_item i
    WHERE i.account_id = $1 AND i.due_at <= core.clock_now() AND i.batch_id || '.' || i.item_no <> ALL($2::text[])
      AND (i.leased OR i.takeovers > 0) LIMIT 1`,
);
const nextDue = statement(
  'ai_item_next_due',
  `SELECT i.due_at FROM ai.batch_item i WHERE i.account_id = $1 AND i.due_at IS NOT NULL ORDER BY i.due_at LIMIT 1`,
);
const beginBatch = statement(
  'ai_batch_begin',
  `UPDATE ai.batch SET status = 'running' WHERE account_id = $1 AND batch_id = $2 AND status = 'queued'`,
);
const renew = statement(
  'ai_item_renew',
  `WITH c AS MATERIALIZED (SELECT core.clock_now() + $5 * interval '1 millisecond' AS lease_end)
   UPDATE ai.batch_item i SET due_at = c.lease_end
     FROM c WHERE i.account_id = $1 AND i.batch_id = $2 AND i.item_no = $3 AND i.attempt = $4 AND i.leased`,
);
const putBack = statement(
  'ai_item_put_back',
  `UPDATE ai.batch_item SET due_at = $5, leased = false, tries = tries + $6
    WHERE account_id = $1 AND batch_id = $2 AND item_no = $3 AND attempt = $4 AND leased`,
);
/** Locked, so that no other attempt claims it before this one has ended it. */
const lockItem = statement(
  'ai_item_lock',
  `SELECT i.attempt, i.result_no FROM ai.batch_item i WHERE i.account_id = $1 AND i.batch_id = $2 AND i.item_no = $3 FOR UPDATE`,
);
const endOne = statement(
  'ai_item_end',
  `UPDATE ai.batch_item
      SET due_at = NULL, leased = false, request = NULL, result_no = $4, response = $5, error = $6, cost_nanos = $7
    WHERE account_id = $1 AND batch_id = $2 AND item_no = $3`,
);
const endWaiting = statement(
  'ai_item_end_waiting',
  `WITH c AS MATERIALIZED (
     SELECT u.item_no, $3::int + u.place::int AS result_no FROM unnest($5::int[]) WITH ORDINALITY u(item_no, place))
   UPDATE ai.batch_item i SET due_at = NULL, request = NULL, result_no = c.result_no, error = $4
     FROM c WHERE i.account_id = $1 AND i.batch_id = $2 AND i.item_no = c.item_no`,
);
const lockWaiting = statement(
  'ai_item_lock_waiting',
  `SELECT i.item_no, length(i.request) AS bytes FROM ai.batch_item i
    WHERE i.account_id = $1 AND i.batch_id = $2 AND i.result_no IS NULL AND NOT i.leased ORDER BY i.item_no FOR UPDATE`,
);
const saveBatch = statement(
  'ai_batch_save',
  `UPDATE ai.batch
      SET status = $3, ends_as = $4, succeeded = $5, failed = $6, cost_nanos = $7, finished_at = $8, kept_bytes = kept_bytes + $9
    WHERE account_id = $1 AND batch_id = $2`,
);

/** Leases due items of the account. */
export async function claimItems(
  tx: Transaction,
  accountId: string,
  { limit, underWay, suspects }: Wanted,
): Promise<Claimed<Item>> {
  const ids = textArray(underWay);
  const [{ rows }, next] = await Promise.all([
    tx.query<ItemRow>(claim, [accountId, limit, ids, ITEM_LEASE_MS, suspects]),
    tx.query<{ due_at: number }>(nextDue, [accountId]),
  ]);
  // Only then are there few due rows to look through.
  const isEmpty = rows.length === 0 && limit > 0;
  const hasSuspects = isEmpty && (await tx.query(findSuspect, [accountId, ids])).rows.length > 0;
  const jobs = rows.map((row) => ({
    accountId,
    id: `${row.batch_id}.${row.item_no}`,
    attempt: row.attempt,
    row,
  }));
  return { jobs, nextMs: next.rows[0]?.due_at ?? null, hasSuspects };
}

const idOf = ({ accountId, row }: Item) => [accountId, row.batch_id, row.item_no] as const;

export async function batchBegins(db: Queryable, { accountId, row }: Item): Promise<void> {
  if (row.status === 'queued') await db.query(beginBatch, [accountId, row.batch_id]);
}

/** False: another attempt has it, or it is over. */
export async function renewItem(db: Queryable, item: Item): Promise<boolean> {
  return (await db.query(renew, [...idOf(item), item.attempt, ITEM_LEASE_MS])).count === 1;
}

/** It is due again at `dueMs`, unless another attempt has it or it is over. `hasFailed`: it counts as a try. */
export async function putItemBack(tx: Queryable, item: Item, dueMs: number, hasFailed: boolean): Promise<void> {
  await tx.query(putBack, [...idOf(item), item.attempt, timestamp(dueMs), hasFailed ? 1 : 0]);
}

/** The same, `pauseMs` from now. */
export async function tryItemAgain(db: Database, item: Item, pauseMs: number, hasFailed: boolean): Promise<void> {
  await db.transaction(async (tx) => {
    const dueMs = (await clockNow(tx)) + pauseMs;
    await putItemBack(tx, item, dueMs, hasFailed);
    await openTurn(tx, item.accountId, BATCHES, dueMs, { later: pauseMs > 0 });
  }, item.accountId);
}

export type ItemEnd = { readonly response: Buffer; readonly costNanos: bigint } | { readonly error: SealedError };

/**
 * The item is over, and its batch too when it was the last. False: another attempt has it, or it is gone. True also when this attempt has
 * ended it before: the COMMIT that nobody knew of had arrived.
 */
export async function endItem(tx: Transaction, item: Item, end: ItemEnd): Promise<boolean> {
  const { accountId, row } = item;
  const [batch, found] = await Promise.all([
    lockBatch(tx, accountId, row.batch_id),
    tx.query<{ attempt: number; result_no: number | null }>(lockItem, idOf(item)),
  ]);
  const [now] = found.rows;
  if (batch === null || now === undefined || now.attempt !== item.attempt) return false;
  if (now.result_no !== null) return true;
  const resultNo = batch.succeeded + batch.failed + 1;
  const [response, error, cost] =
    'response' in end ? [end.response, null, end.costNanos] : [null, JSON.stringify(end.error), 0n];
  await tx.query(endOne, [...idOf(item), resultNo, response, error, cost]);
  const after = {
    ...batch,
    succeeded: batch.succeeded + (response === null ? 0 : 1),
    failed: batch.failed + (response === null ? 1 : 0),
    cost_nanos: batch.cost_nanos + cost,
  };
  await save(tx, accountId, after, (response?.length ?? 0) - row.request.length);
  return true;
}

/** What of a batch is not under way fails with `error`. `endsAs`: what the batch becomes once nothing of it is. */
export async function endRemaining(
  tx: Transaction,
  accountId: string,
  batch: BatchRow,
  error: ItemError,
  endsAs: EarlyEnd | null,
): Promise<BatchRow> {
  const id = [accountId, batch.batch_id];
  const { rows } = await tx.query<{ item_no: number; bytes: number }>(lockWaiting, id);
  const waiting = rows.map(({ item_no }) => item_no);
  const done = batch.succeeded + batch.failed;
  await tx.query(endWaiting, [...id, done, JSON.stringify(error), int4Array(waiting)]);
  const after = { ...batch, failed: batch.failed + waiting.length, ends_as: batch.ends_as ?? endsAs };
  return save(tx, accountId, after, -rows.reduce((sum, { bytes }) => sum + bytes, 0));
}

/** With its end, if nothing of it is left. */
async function save(tx: Transaction, accountId: string, batch: BatchRow, bytes: number): Promise<BatchRow> {
  const isOver = batch.succeeded + batch.failed === batch.total;
  const nowMs = isOver ? await clockNow(tx) : null;
  const counted = batch.succeeded > 0 ? 'completed' : 'failed';
  const status = isOver ? (batch.ends_as ?? counted) : batch.status;
  const after = { ...batch, status, finished_at: nowMs };
  const { batch_id, ends_as, succeeded, failed, cost_nanos } = after;
  const finishedAt = timestamp(nowMs);
  await tx.query(saveBatch, [
    ...[accountId, batch_id, status, ends_as, succeeded, failed, cost_nanos],
    ...[finishedAt, BigInt(bytes)],
  ]);
  if (nowMs === null) return after;
  const type = status === 'completed' ? 'ai.batch.completed' : 'ai.batch.failed';
  sendEvents(tx, [{ accountId, type, data: { object: batchRecord(after) }, requestId: null }], nowMs);
  return after;
}
