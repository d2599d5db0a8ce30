// SQL of messages. One step at a time owns a message: `attempt` fences the writes of a step.
import { dueTable } from '../../../core/background/due-table.ts';
import { int4Array, textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { resourceTable } from '../../../kit/resource.ts';
import { LEASE_MS } from '../limits.ts';
import { type MessageRow, messageColumns } from './row.ts';

export const messageTable = resourceTable<MessageRow>({
  table: 'sms.message',
  key: 'sms_id',
  columns: messageColumns,
  isNewestFirst: true,
  filters: ['status', 'direction', 'to_number'],
});

export const messageDue = dueTable({ table: 'sms.message', key: 'sms_id', leaseMs: LEASE_MS });

const insert = statement(
  'sms_insert_message',
  `INSERT INTO sms.message (${messageColumns})
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)
       ON CONFLICT (account_id, sms_id) DO NOTHING`,
);
const lock = statement(
  'sms_lock_message',
  `SELECT ${messageColumns} FROM sms.message WHERE account_id = $1 AND sms_id = $2 FOR UPDATE`,
);
const mark = statement(
  'sms_mark_sending',
  `UPDATE sms.message AS m SET sending = true, vendor = u.vendor, from_number = u.sender
     FROM unnest($2::text[], $3::int[], $4::text[], $5::text[]) u(sms_id, attempt, vendor, sender)
    WHERE m.account_id = $1 AND m.sms_id = u.sms_id AND m.attempt = u.attempt AND m.status = 'queued'
   RETURNING m.sms_id`,
);
const end = statement(
  'sms_end_step',
  `UPDATE sms.message
      SET status = $4, error_code = $5, detail = $6, vendor = $7, from_number = $8, captured = $9, cost_nanos = $10, sent_at = $11,
          ended_at = $12, due_at = $13, sending = false, sealed_text = NULL
    WHERE account_id = $1 AND sms_id = $2 AND attempt = $3 AND status = 'queued'
   RETURNING ${messageColumns}`,
);
const receive = statement(
  'sms_take_receipt',
  `UPDATE sms.message SET status = $3, error_code = $4, detail = NULL, ended_at = $5, due_at = NULL
    WHERE account_id = $1 AND sms_id = $2 AND status = 'sent'
   RETURNING ${messageColumns}`,
);
const insertPart = statement(
  'sms_insert_part',
  `INSERT INTO sms.part (account_id, sms_id, number, vendor, reference, status, created_at) VALUES ($1, $2, $3, $4, $5, 'sent', $6)`,
);
const findPart = statement(
  'sms_find_part',
  `/* fan-out: receipts name parts of any account */
   SELECT p.account_id, p.sms_id, p.number FROM sms.part p
    WHERE p.vendor = $1 AND p.reference = ANY($2::text[]) ORDER BY p.created_at DESC LIMIT 1`,
);
const endPart = statement(
  'sms_end_part',
  `UPDATE sms.part SET status = $4 WHERE account_id = $1 AND sms_id = $2 AND number = $3 AND status = 'sent'`,
);
const openParts = statement(
  'sms_open_parts',
  `SELECT count(*)::int AS open FROM sms.part WHERE account_id = $1 AND sms_id = $2 AND status = 'sent'`,
);
const countMade = statement(
  'sms_count_made',
  `SELECT m.account_id, count(*)::int AS made FROM sms.message m
    WHERE m.account_id = ANY($1::text[]) AND m.direction = 'outbound' AND m.created_at > core.clock_now() - interval '1 minute'
    GROUP BY m.account_id`,
);
const unsettled = statement(
  'sms_unsettled',
  `SELECT m.sms_id FROM sms.message m WHERE m.account_id = $1 AND m.sms_id = ANY($2::text[]) AND m.status = 'queued'`,
);

/** Sends the insert without awaiting it; a message that is there stays as it is. Answers how many were inserted. */
export function sendInsert(tx: Queryable, row: MessageRow): Promise<{ count: number }> {
  return tx.query(insert, [
    ...[
      row.account_id,
      row.sms_id,
      row.direction,
      row.key_id,
      row.request_id,
      row.to_number,
      row.from_number,
      row.text,
    ],
    ...[row.sealed_text, row.encoding, row.segments, row.status, row.error_code, row.detail, row.vendor, row.chain],
    ...[row.captured, row.hold_id, row.capability, row.cost_nanos, row.sending, timestamp(row.due_at), row.attempt],
    ...[timestamp(row.created_at), timestamp(row.sent_at), timestamp(row.ended_at)],
  ]);
}

/** The row, locked until the transaction ends; null when there is none. */
export async function lockMessage(tx: Transaction, accountId: string, smsId: string): Promise<MessageRow | null> {
  return (await tx.query<MessageRow>(lock, [accountId, smsId])).rows[0] ?? null;
}

/** A message that is about to be handed over, by which step and to whom. */
export interface Marking {
  readonly smsId: string;
  readonly attempt: number;
  readonly vendor: string;
  readonly from: string;
}

/** Says durably that they may have left from now on. Ids of those that this step still has. */
export async function markSending(
  db: Queryable,
  accountId: string,
  markings: readonly Marking[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ sms_id: string }>(mark, [
    accountId,
    textArray(markings.map(({ smsId }) => smsId)),
    int4Array(markings.map(({ attempt }) => attempt)),
    textArray(markings.map(({ vendor }) => vendor)),
    textArray(markings.map(({ from }) => from)),
  ]);
  return new Set(rows.map(({ sms_id }) => sms_id));
}

/** What a step came to. */
export type StepEnd = Pick<
  MessageRow,
  | 'status'
  | 'error_code'
  | 'detail'
  | 'vendor'
  | 'from_number'
  | 'captured'
  | 'cost_nanos'
  | 'sent_at'
  | 'ended_at'
  | 'due_at'
>;

/** The message as it is then; null when another step has it. */
export async function saveStepEnd(tx: Transaction, row: MessageRow, to: StepEnd): Promise<MessageRow | null> {
  const { rows } = await tx.query<MessageRow>(end, [
    ...[row.account_id, row.sms_id, row.attempt, to.status, to.error_code, to.detail, to.vendor, to.from_number],
    ...[to.captured, to.cost_nanos, timestamp(to.sent_at), timestamp(to.ended_at), timestamp(to.due_at)],
  ]);
  return rows[0] ?? null;
}

/** Ends a message that was sent; null when it is in another state. */
export async function saveReceipt(
  tx: Transaction,
  { account_id, sms_id }: MessageRow,
  to: { readonly status: 'delivered' | 'failed'; readonly errorCode: string | null },
  nowMs: number,
): Promise<MessageRow | null> {
  const values = [account_id, sms_id, to.status, to.errorCode, timestamp(nowMs)];
  return (await tx.query<MessageRow>(receive, values)).rows[0] ?? null;
}

export interface PartKey {
  readonly account_id: string;
  readonly sms_id: string;
  readonly number: number;
}

export async function insertParts(
  tx: Transaction,
  { account_id, sms_id, vendor }: MessageRow,
  references: readonly string[],
  nowMs: number,
): Promise<void> {
  const at = timestamp(nowMs);
  await Promise.all(
    references.map((reference, i) => tx.query(insertPart, [account_id, sms_id, i + 1, vendor, reference, at])),
  );
}

export async function findPartOf(
  db: Queryable,
  vendor: string,
  references: readonly string[],
): Promise<PartKey | null> {
  return (await db.query<PartKey>(findPart, [vendor, textArray(references)])).rows[0] ?? null;
}

/** Parts of the message that have no receipt then. */
export async function savePartEnd(
  tx: Transaction,
  { account_id, sms_id, number }: PartKey,
  status: 'delivered' | 'failed',
): Promise<number> {
  await tx.query(endPart, [account_id, sms_id, number, status]);
  return (await tx.query<{ open: number }>(openParts, [account_id, sms_id])).rows[0]?.open ?? 0;
}

/** Messages of the last minute, by account. */
export async function countRecent(tx: Queryable, accounts: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await tx.query<{ account_id: string; made: number }>(countMade, [textArray(accounts)]);
  return new Map(rows.map(({ account_id, made }) => [account_id, made]));
}

/** Of these messages those whose hold is open. */
export async function unsettledMessages(
  db: Queryable,
  accountId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ sms_id: string }>(unsettled, [accountId, textArray(ids)]);
  return new Set(rows.map(({ sms_id }) => sms_id));
}
