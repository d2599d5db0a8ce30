// SQL of mails: insert, find, list. Their outcomes are in sending/.
import { int4Array, textArray, timestampArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import type { ListBounds } from '../../../kit/resource.ts';
import type { MessageRow, RecipientKind, RecipientRow } from './row.ts';

export const messageColumns = `m.account_id, m.email_id, m.key_id, m.request_id, m.capability, m.from_header, m.from_address, m.from_domain,
          m.to_header, m.subject, m.message_id, m.tags, m.unsubscribe, m.track_opens, m.track_clicks, m.status, m.captured, m.vendor,
          m.vendor_pinned, m.source_bytes, m.source_stored, m.hold_id, m.unit_nanos, m.send_at, m.due_at, m.attempt, m.deferrals,
          m.created_at, m.sent_at`;

const insertMessage = statement(
  'email_insert_message',
  `INSERT INTO email.message (account_id, email_id, key_id, request_id, capability, from_header, from_address, from_domain, to_header,
                              subject, message_id, tags, unsubscribe, track_opens, track_clicks, status, captured, vendor, vendor_pinned,
                              source, source_bytes, source_stored, hold_id, unit_nanos, send_at, due_at, attempt, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::text[], $10, $11, $12::text[], $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
           $25, $26, $27, $28)`,
);
const insertRecipients = statement(
  'email_insert_recipients',
  `INSERT INTO email.recipient AS r (account_id, email_id, number, kind, address, status, detail, changed_at)
   SELECT w.account_id, u.email_id, u.number, u.kind, u.address, u.status, u.detail, u.changed_at
     FROM core.wallet w, unnest($2::text[], $3::text[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::timestamptz[])
          u(account_id, email_id, number, kind, address, status, detail, changed_at)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);
const selectMessage = statement(
  'email_select_message',
  `SELECT ${messageColumns} FROM email.message m WHERE m.account_id = $1 AND m.email_id = $2`,
);
const selectMessages = statement(
  'email_select_some',
  `SELECT ${messageColumns} FROM email.message m WHERE m.account_id = $1 AND m.email_id = ANY($2::text[])`,
);
const selectSource = statement(
  'email_select_source',
  `SELECT m.source FROM email.message m WHERE m.account_id = $1 AND m.email_id = $2`,
);
const selectPage = statement(
  'email_select_messages',
  `SELECT ${messageColumns}
     FROM email.message m
    WHERE m.account_id = $1 AND m.email_id < $2::text AND ($4::text IS NULL OR m.status = $4::text)
    ORDER BY m.email_id DESC
    LIMIT $3::int`,
);
const selectRecipients = statement(
  'email_select_recipients',
  `SELECT r.email_id, r.number, r.kind, r.address, r.status, r.sending, r.taken, r.code, r.detail, r.changed_at
     FROM email.recipient r
    WHERE r.account_id = $1 AND r.email_id = ANY($2::text[])
    ORDER BY r.email_id, r.number`,
);

export type NewMessage = Omit<MessageRow, 'deferrals' | 'sent_at'> & { readonly source: Buffer | null };

export interface NewRecipient extends Pick<RecipientRow, 'email_id' | 'number' | 'address' | 'status' | 'detail'> {
  readonly account_id: string;
  readonly kind: RecipientKind;
}

/** Sends the insert without awaiting it. */
export function sendMessage(tx: Queryable, row: NewMessage): void {
  void tx.query(insertMessage, [
    ...[row.account_id, row.email_id, row.key_id, row.request_id, row.capability],
    ...[row.from_header, row.from_address, row.from_domain, textArray(row.to_header), row.subject, row.message_id],
    ...[textArray(row.tags), row.unsubscribe, row.track_opens, row.track_clicks, row.status, row.captured],
    ...[row.vendor, row.vendor_pinned, row.source, row.source_bytes, row.source_stored, row.hold_id, row.unit_nanos],
    ...[timestamp(row.send_at), timestamp(row.due_at), row.attempt, timestamp(row.created_at)],
  ]);
}

/** The same, of recipients of mails of several accounts. */
export function sendRecipients(tx: Transaction, rows: readonly NewRecipient[], nowMs: number): void {
  void tx.query(insertRecipients, [
    textArray([...new Set(rows.map((row) => row.account_id))].sort()),
    textArray(rows.map((row) => row.account_id)),
    textArray(rows.map((row) => row.email_id)),
    int4Array(rows.map((row) => row.number)),
    textArray(rows.map((row) => row.kind)),
    textArray(rows.map((row) => row.address)),
    textArray(rows.map((row) => row.status)),
    textArray(rows.map((row) => row.detail)),
    timestampArray(rows.map(() => nowMs)),
  ]);
}

export async function findMessage(db: Queryable, accountId: string, emailId: string): Promise<MessageRow | null> {
  return (await db.query<MessageRow>(selectMessage, [accountId, emailId])).rows[0] ?? null;
}

export async function findMessages(db: Queryable, accountId: string, emailIds: readonly string[]) {
  return (await db.query<MessageRow>(selectMessages, [accountId, textArray(emailIds)])).rows;
}

/** What stands in the row of it; null: it is in the asset store, or gone. */
export async function findSource(db: Queryable, accountId: string, emailId: string): Promise<Buffer | null> {
  return (await db.query<{ source: Buffer | null }>(selectSource, [accountId, emailId])).rows[0]?.source ?? null;
}

/** Newest first. */
export async function listMessages(db: Queryable, accountId: string, { after, limit, filters }: ListBounds) {
  const values = [accountId, after ?? '~', limit, filters?.status ?? null];
  return (await db.query<MessageRow>(selectPage, values)).rows;
}

/** By mail, in their order. */
export async function recipientsOf(
  db: Queryable,
  accountId: string,
  emailIds: readonly string[],
): Promise<ReadonlyMap<string, readonly RecipientRow[]>> {
  const { rows } = await db.query<RecipientRow>(selectRecipients, [accountId, textArray(emailIds)]);
  return Map.groupBy(rows, (row) => row.email_id);
}
