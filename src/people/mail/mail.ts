// Outbox of mail to people: written in the transaction that it reports, then sent by the loop of send.ts. Mail expires after a day.

import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { newId } from '../../lib/ids.ts';
import { iso } from '../../lib/time.ts';

/** What a commit with new mail wakes. */
export const MAIL_HINT = 'mail';

export interface NewMail {
  /** One address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Whom it is about, when that is known. */
  readonly accountId?: string;
}

const insertMail = statement(
  'mail_insert',
  `INSERT INTO core.mail (mail_id, account_id, recipient, subject, body_text, body_html, created_at, due_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $7)`,
);
const selectMails = statement(
  'mail_select_page',
  `SELECT m.mail_id, m.recipient, m.subject, m.body_text, m.body_html, m.created_at
     FROM core.mail m
    WHERE m.mail_id < $1
    ORDER BY m.mail_id DESC
    LIMIT $2`,
);
const searchMail = statement(
  'mail_search_page',
  `SELECT m.mail_id, m.recipient, m.subject, m.body_text, m.body_html, m.created_at
     FROM core.mail m
    WHERE m.mail_id < $1
      AND (position(lower($3) IN lower(m.recipient)) > 0 OR position(lower($3) IN lower(m.subject)) > 0)
    ORDER BY m.mail_id DESC
    LIMIT $2`,
);
const selectMail = statement(
  'mail_select',
  'SELECT m.mail_id, m.recipient, m.subject, m.body_text, m.body_html, m.created_at FROM core.mail m WHERE m.mail_id = $1',
);
const deleteOld = statement('mail_delete_old', 'DELETE FROM core.mail WHERE created_at <= $1');

interface MailRow {
  readonly mail_id: string;
  readonly recipient: string;
  readonly subject: string;
  readonly body_text: string;
  readonly body_html: string;
  readonly created_at: number;
}

/** Sends it when the transaction commits. `nowMs`: of the database clock. */
export async function sendMail(tx: Transaction, mail: NewMail, nowMs: number): Promise<void> {
  const { accountId = null, to, subject, text, html } = mail;
  // Ids stand in the order of the database's clock.
  await tx.query(insertMail, [newId('mail_', nowMs), accountId, to, subject, text, html, timestamp(nowMs)]);
  tx.hint(MAIL_HINT);
}

export interface MailsAsked {
  /** They are older than this one; absent: from the newest. */
  readonly beforeId?: string;
  /** A part of their recipient's address or of their subject, in either case; absent: all. */
  readonly search?: string;
  readonly limit: number;
}

/** Mail of the last day that is not sent, the newest first, as the operator sees it. */
export async function listMails(db: Queryable, { beforeId = '~', search, limit }: MailsAsked) {
  // What is looked for may be nowhere: then the mail of a day is read, which nobody but the operator can ask for.
  const { rows } =
    search === undefined
      ? await db.query<MailRow>(selectMails, [beforeId, limit])
      : await db.query<MailRow>(searchMail, [beforeId, limit, search]);
  return rows.map(mailRecord);
}

/** As the list shows it; null: there is none, or it is sent. */
export async function findMail(db: Queryable, mailId: string) {
  const { rows } = await db.query<MailRow>(selectMail, [mailId]);
  return rows[0] === undefined ? null : mailRecord(rows[0]);
}

function mailRecord(row: MailRow) {
  return {
    mail_id: row.mail_id,
    to: row.recipient,
    subject: row.subject,
    text: row.body_text,
    html: row.body_html,
    created_at: iso(row.created_at),
  };
}

export async function deleteMailBefore(db: Queryable, beforeMs: number): Promise<void> {
  await db.query(deleteOld, [timestamp(beforeMs)]);
}
