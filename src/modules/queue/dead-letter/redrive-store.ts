// SQL of redrives, and of the messages of a queue that are in its dead-letter queue.
import { int8Array, textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { iso, isoOrNull } from '../../../lib/time.ts';
import { PAGE_BYTES } from '../limits.ts';
import type { MessageRow } from '../queues/records.ts';

export interface RedriveRow {
  readonly account_id: string;
  readonly redrive_id: string;
  readonly queue_id: bigint;
  readonly state: 'running' | 'completed' | 'cancelled' | 'failed';
  readonly moved: number;
  readonly requested: number | null;
  readonly message_seqs: bigint[] | null;
  readonly rate_per_second: number | null;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly queue: string | null;
  readonly dlq_name: string | null;
}

export interface DeadMessage extends MessageRow {
  readonly dlq_name: string;
  readonly dead_lettered_at: number;
  readonly reason: string | null;
}

const deadColumns = `m.seq, m.delivery_count, m.priority, m.group_id, m.deduplication_id, m.headers, m.payload,
          d.name AS dlq_name, m.retain_from AS dead_lettered_at, m.reason`;
// Sizes are known without reading the payloads: what is beyond the page is not read at all.
const selectDead = statement(
  'redrive_select_dead',
  `SELECT b.*
     FROM (SELECT a.*, sum(a.bytes) OVER (ORDER BY a.seq) - a.bytes AS bytes_before, count(*) OVER () AS found
             FROM (SELECT ${deadColumns}, octet_length(m.payload) + coalesce(octet_length(m.headers), 0) AS bytes
                     FROM queue.message m, queue.queue d
                    WHERE m.account_id = $1 AND m.source_queue_id = $2 AND m.seq > $3
                      AND d.account_id = $1 AND d.queue_id = m.queue_id
                    ORDER BY m.seq
                    LIMIT $4) a) b
    WHERE b.bytes_before < $5
    ORDER BY b.seq
    LIMIT $4 - 1`,
);
// Messages that a consumer of the dead-letter queue holds stay with it; those of a deleted one are gone.
const movable = `m.account_id = $1 AND m.source_queue_id = $2
        AND EXISTS (SELECT 1 FROM queue.queue d WHERE d.account_id = $1 AND d.queue_id = m.queue_id)
        AND NOT (m.leased AND m.visible_at > core.clock_now())`;
const findDead = statement(
  'redrive_find_dead',
  `SELECT m.seq, m.queue_id, m.group_id
     FROM queue.message m
    WHERE ${movable}
      AND ($3::bigint[] IS NULL OR m.seq = ANY($3::bigint[]))
    ORDER BY m.seq
    LIMIT $4`,
);
const lockDead = statement(
  'redrive_lock_dead',
  `WITH c AS MATERIALIZED (
     SELECT m.seq
       FROM queue.message m
      WHERE ${movable} AND m.queue_id = $3 AND m.seq = ANY($4::bigint[])
      ORDER BY m.seq
        FOR UPDATE)
   SELECT c.seq FROM c`,
);
const redriveColumns = `r.account_id, r.redrive_id, r.queue_id, r.state, r.moved, r.requested, r.message_seqs, r.rate_per_second,
          r.created_at, r.finished_at,
          (SELECT q.name FROM queue.queue q WHERE q.account_id = $1 AND q.queue_id = r.queue_id) AS queue,
          (SELECT d.name FROM queue.queue d WHERE d.account_id = $1 AND d.queue_id = r.dlq_id) AS dlq_name`;
const insertRedrive = statement(
  'redrive_insert',
  `INSERT INTO queue.redrive (account_id, redrive_id, queue_id, dlq_id, state, moved, requested, message_seqs, rate_per_second, created_at)
   VALUES ($1, $2, $3, $4, 'running', 0, $5, $6::bigint[], $7, $8)`,
);
const selectRedrive = statement(
  'redrive_select',
  `SELECT ${redriveColumns} FROM queue.redrive r WHERE r.account_id = $1 AND r.redrive_id = $2`,
);
const lockRedrive = statement(
  'redrive_lock',
  `SELECT ${redriveColumns} FROM queue.redrive r WHERE r.account_id = $1 AND r.redrive_id = $2 FOR UPDATE OF r`,
);
const saveProgress = statement(
  'redrive_save',
  `UPDATE queue.redrive SET moved = $3, state = $4, finished_at = $5 WHERE account_id = $1 AND redrive_id = $2`,
);
const selectRedrives = statement(
  'redrive_select_page',
  `SELECT ${redriveColumns} FROM queue.redrive r WHERE r.account_id = $1 AND r.queue_id = $2 AND r.redrive_id < $3 ORDER BY r.redrive_id DESC LIMIT $4`,
);

const selectOfQueues = statement(
  'redrive_select_of_queues',
  `SELECT ${redriveColumns} FROM queue.redrive r WHERE r.account_id = $1 AND r.queue_id = ANY($2::bigint[]) ORDER BY r.redrive_id DESC LIMIT $3`,
);
const lockRedrives = statement(
  'redrive_lock_several',
  `SELECT ${redriveColumns} FROM queue.redrive r WHERE r.account_id = $1 AND r.redrive_id = ANY($2::text[]) ORDER BY r.redrive_id FOR UPDATE OF r`,
);

/**
 * Messages of a queue in its dead-letter queue, after `afterSeq`, in publish order: at most `limit`, and none after PAGE_BYTES of
 * payload and headers.
 */
export async function listDead(
  db: Queryable,
  accountId: string,
  queueId: bigint,
  afterSeq: bigint,
  limit: number,
): Promise<{ rows: DeadMessage[]; hasMore: boolean }> {
  const { rows } = await db.query<DeadMessage & { found: bigint }>(selectDead, [
    accountId,
    queueId,
    afterSeq,
    limit + 1,
    PAGE_BYTES,
  ]);
  return { rows, hasMore: rows[0] !== undefined && rows.length < rows[0].found };
}

export interface DeadRef {
  readonly seq: bigint;
  readonly queue_id: bigint;
  readonly group_id: string | null;
}

/** Messages that may go back now, in publish order; not locked. */
export async function findDeadMessages(
  tx: Queryable,
  accountId: string,
  queueId: bigint,
  only: readonly bigint[] | null,
  limit: number,
): Promise<DeadRef[]> {
  return (await tx.query<DeadRef>(findDead, [accountId, queueId, only === null ? null : int8Array([...only]), limit]))
    .rows;
}

/** Locks those of `seqs` in the dead-letter queue that may still go back. */
export async function lockDeadMessages(
  tx: Queryable,
  accountId: string,
  queueId: bigint,
  dlqId: bigint,
  seqs: readonly bigint[],
): Promise<bigint[]> {
  const { rows } = await tx.query<{ seq: bigint }>(lockDead, [accountId, queueId, dlqId, int8Array([...seqs])]);
  return rows.map((row) => row.seq);
}

export interface NewRedrive {
  readonly accountId: string;
  readonly redriveId: string;
  readonly queueId: bigint;
  readonly dlqId: bigint | null;
  readonly requested: number;
  readonly seqs: readonly bigint[] | null;
  readonly ratePerSecond: number | null;
  readonly nowMs: number;
}

export async function addRedrive(tx: Queryable, redrive: NewRedrive): Promise<void> {
  const { accountId, redriveId, queueId, dlqId, requested, seqs, ratePerSecond, nowMs } = redrive;
  await tx.query(insertRedrive, [
    accountId,
    redriveId,
    queueId,
    dlqId,
    requested,
    seqs === null ? null : int8Array([...seqs]),
    ratePerSecond,
    timestamp(nowMs),
  ]);
}

export async function findRedrive(db: Queryable, accountId: string, redriveId: string): Promise<RedriveRow | null> {
  return (await db.query<RedriveRow>(selectRedrive, [accountId, redriveId])).rows[0] ?? null;
}

export async function takeRedrive(tx: Queryable, accountId: string, redriveId: string): Promise<RedriveRow | null> {
  return (await tx.query<RedriveRow>(lockRedrive, [accountId, redriveId])).rows[0] ?? null;
}

export async function saveRedrive(
  tx: Queryable,
  row: RedriveRow,
  moved: number,
  state: RedriveRow['state'],
  finishedMs: number | null,
): Promise<void> {
  await tx.query(saveProgress, [row.account_id, row.redrive_id, moved, state, timestamp(finishedMs)]);
}

/** Newest first, those before `beforeId`. */
export async function listRedrives(
  db: Queryable,
  accountId: string,
  queueId: bigint,
  beforeId: string,
  limit: number,
): Promise<RedriveRow[]> {
  return (await db.query<RedriveRow>(selectRedrives, [accountId, queueId, beforeId, limit])).rows;
}

/** Of all these queues, newest first. */
export async function listRedrivesOf(
  db: Queryable,
  accountId: string,
  queueIds: readonly bigint[],
  limit: number,
): Promise<RedriveRow[]> {
  return (await db.query<RedriveRow>(selectOfQueues, [accountId, int8Array([...queueIds]), limit])).rows;
}

/** Those of the ids that there are, locked until the end of the transaction. */
export async function takeRedrives(tx: Queryable, accountId: string, ids: readonly string[]): Promise<RedriveRow[]> {
  return (await tx.query<RedriveRow>(lockRedrives, [accountId, textArray([...ids])])).rows;
}

export function redriveRecord(row: RedriveRow) {
  return {
    redrive_id: row.redrive_id,
    queue: row.queue,
    dlq_name: row.dlq_name,
    state: row.state,
    moved: row.moved,
    requested: row.requested,
    rate_per_second: row.rate_per_second,
    created_at: iso(row.created_at),
    finished_at: isoOrNull(row.finished_at),
  };
}
