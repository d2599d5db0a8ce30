// SQL of outcomes.
import { boolArray, int4Array, textArray, timestampArray } from '../../../db/arrays.ts';
import type { Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { MessageRow, RecipientRow } from '../messages/row.ts';
import { messageColumns, recipientsOf } from '../messages/store.ts';

const selectHolds = statement(
  'email_select_holds',
  `SELECT DISTINCT m.hold_id FROM email.message m WHERE m.account_id = $1 AND m.email_id = ANY($2::text[])`,
);
const lockMessages = statement(
  'email_lock_of_holds',
  `SELECT ${messageColumns} FROM email.message m
    WHERE m.account_id = $1 AND m.hold_id = ANY($2::text[]) ORDER BY m.email_id FOR UPDATE`,
);
const updateRecipients = statement(
  'email_update_recipients',
  `UPDATE email.recipient AS r
      SET status = u.status, code = u.code, detail = u.detail, taken = u.taken, sending = false, changed_at = u.changed_at
     FROM unnest($2::text[], $3::int[], $4::text[], $5::text[], $6::text[], $7::bool[], $8::timestamptz[])
          u(email_id, number, status, code, detail, taken, changed_at)
    WHERE r.account_id = $1 AND r.email_id = u.email_id AND r.number = u.number`,
);
const updateMessages = statement(
  'email_update_messages',
  `UPDATE email.message AS m
      SET status = u.status, vendor = u.vendor, due_at = u.due_at, deferrals = u.deferrals, sent_at = u.sent_at
     FROM unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::int[], $7::timestamptz[])
          u(email_id, status, vendor, due_at, deferrals, sent_at)
    WHERE m.account_id = $1 AND m.email_id = u.email_id`,
);

export interface ChangedMail {
  readonly row: MessageRow;
  readonly recipients: readonly RecipientRow[];
  readonly changed: ReadonlySet<number>;
}

/** Locks these mails and those that share a hold with one of them, in one order everywhere. */
export async function lockHolds(tx: Transaction, accountId: string, emailIds: readonly string[]) {
  const { rows: holds } = await tx.query<{ hold_id: string }>(selectHolds, [accountId, textArray(emailIds)]);
  const holdIds = textArray(holds.map(({ hold_id }) => hold_id).sort());
  const { rows } = await tx.query<MessageRow>(lockMessages, [accountId, holdIds]);
  const recipients = await recipientsOf(
    tx,
    accountId,
    rows.map(({ email_id }) => email_id),
  );
  return { rows, recipients };
}

/** Sends the update without awaiting it. */
export function sendRecipientStates(tx: Transaction, accountId: string, mails: readonly ChangedMail[]): void {
  const rows = mails.flatMap(({ recipients, changed }) => recipients.filter(({ number }) => changed.has(number)));
  if (rows.length === 0) return;
  void tx.query(updateRecipients, [
    accountId,
    textArray(rows.map((row) => row.email_id)),
    int4Array(rows.map((row) => row.number)),
    textArray(rows.map((row) => row.status)),
    textArray(rows.map((row) => row.code)),
    textArray(rows.map((row) => row.detail)),
    boolArray(rows.map((row) => row.taken)),
    timestampArray(rows.map((row) => row.changed_at)),
  ]);
}

/** The same of the mails. */
export function sendMessageStates(tx: Transaction, accountId: string, mails: readonly ChangedMail[]): void {
  if (mails.length === 0) return;
  const rows = mails.map(({ row }) => row);
  void tx.query(updateMessages, [
    accountId,
    textArray(rows.map((row) => row.email_id)),
    textArray(rows.map((row) => row.status)),
    textArray(rows.map((row) => row.vendor)),
    timestampArray(rows.map((row) => row.due_at)),
    int4Array(rows.map((row) => row.deferrals)),
    timestampArray(rows.map((row) => row.sent_at)),
  ]);
}
