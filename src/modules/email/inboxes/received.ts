// Schema, reads and record of received mail.
import Type, { type Static } from 'typebox';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { instant, textOrNull } from '../../../kit/fields.ts';
import { iso } from '../../../lib/time.ts';
import { problem } from '../../../problems/problem.ts';
import { subjectPatterns } from '../messages/search.ts';
import type { AttachmentLinks } from './attachment-links.ts';
import type { ReceivedContent } from './keep.ts';

export const inboundIdField = Type.String({
  maxLength: 100,
  pattern: '^[A-Za-z0-9_-]+$',
  description: 'ID of the received mail: `eml_in_…`.',
});

export const inboundSchema = Type.Object({
  inbound_id: Type.String({ description: 'ID of the received mail.' }),
  inbox_id: Type.String({ description: 'The inbox that it lies in.' }),
  from: Type.String({ description: 'As its From header says. See `auth`: anyone can write anything there.' }),
  to: Type.Array(Type.String(), { description: 'As its To header says.' }),
  subject: Type.String({ description: 'Its subject; empty when it has none.' }),
  text: textOrNull('Its text, up to 65,536 characters; null when it has none.'),
  html: textOrNull(
    'Its HTML as it was sent, up to 262,144 characters; null when it has none. Clean it before you show it.',
  ),
  truncated: Type.Boolean({ description: 'Text or HTML is longer: email.received.raw has all of it.' }),
  attachments: Type.Array(
    Type.Object({
      filename: textOrNull('As its sender named it.'),
      content_type: Type.String({ description: 'As its sender says.' }),
      bytes: Type.Integer({ minimum: 0, description: 'Length, decoded.' }),
      url: Type.String({ description: 'A link that needs no key, for an hour.' }),
    }),
    { description: 'The first 100.' },
  ),
  message_id: textOrNull('Its Message-ID header.'),
  in_reply_to: textOrNull('The Message-ID of the mail that it answers.'),
  thread_id: Type.String({ description: 'The conversation: the same for a mail and all answers to it.' }),
  auth: Type.Object(
    {
      spf: Type.String({ description: 'Whether the server may send for the envelope sender.' }),
      dkim: Type.String({ description: 'Whether a signature of the mail holds.' }),
      dmarc: Type.String({ description: 'Whether one of both stands for the domain in From, as that domain asks.' }),
    },
    {
      description: 'What was checked of its sender: pass, fail, none, softfail, neutral, policy, temperror, permerror.',
    },
  ),
  received_at: instant('When it was taken.'),
});

export interface ReceivedRow {
  readonly inbound_id: string;
  readonly inbox_id: string;
  readonly seq: bigint;
  readonly from_header: string;
  readonly to_header: readonly string[];
  readonly subject: string;
  readonly content: string;
  readonly message_id: string | null;
  readonly in_reply_to: string | null;
  readonly thread_id: string;
  readonly received_at: number;
}

const columns = `r.inbound_id, r.inbox_id, r.seq, r.from_header, r.to_header, r.subject, r.content, r.message_id, r.in_reply_to,
  r.thread_id, r.received_at`;

const find = statement(
  'email_find_received',
  `SELECT ${columns} FROM email.received r WHERE r.account_id = $1 AND r.inbound_id = $2`,
);
const list = statement(
  'email_list_received',
  `SELECT ${columns} FROM email.received r WHERE r.account_id = $1 AND r.inbox_id = $2 AND r.seq > $3 ORDER BY r.seq LIMIT $4`,
);

// An inbox keeps 10,000 mails at most, and what they say lies beside their rows.
const search = statement(
  'email_search_received',
  `SELECT ${columns} FROM email.received r
    WHERE r.account_id = $1 AND r.inbox_id = $2 AND r.seq > $3
      AND ($5::text IS NULL OR lower(r.from_address) = lower($5::text)) AND r.subject ILIKE ALL ($6::text[])
    ORDER BY r.seq LIMIT $4`,
);

/** Throws NOT_FOUND. */
export async function requireReceived(
  db: Queryable,
  accountId: string,
  inboundId: string,
  param = 'inbound_id',
): Promise<ReceivedRow> {
  const { rows } = await db.query<ReceivedRow>(find, [accountId, inboundId]);
  if (rows[0] !== undefined) return rows[0];
  throw problem('NOT_FOUND', { param, message: 'There is no such received mail. Mail is kept for 30 days.' });
}

export interface WantedMail {
  readonly inboxId: string;
  readonly afterSeq: bigint;
  readonly limit: number;
  /** A whole address, in any case; null: of everybody. */
  readonly sender: string | null;
  /** Words, each of which the subject holds, in any case. */
  readonly subject: string | null;
}

/** Mail of the inbox behind `afterSeq`, the oldest first. */
export async function listReceived(
  db: Queryable,
  accountId: string,
  { inboxId, afterSeq, limit, sender, subject }: WantedMail,
): Promise<readonly ReceivedRow[]> {
  const values = [accountId, inboxId, afterSeq, limit];
  if (sender === null && subject === null) return (await db.query<ReceivedRow>(list, values)).rows;
  const patterns = textArray(subjectPatterns(subject ?? ''));
  return (await db.query<ReceivedRow>(search, [...values, sender, patterns])).rows;
}

export function contentOf(row: Pick<ReceivedRow, 'content'>): ReceivedContent {
  return JSON.parse(row.content) as ReceivedContent;
}

export function showReceived(
  row: ReceivedRow,
  accountId: string,
  links: AttachmentLinks,
  nowMs: number,
): Static<typeof inboundSchema> {
  const { text, html, isCut, attachments, auth } = contentOf(row);
  const { inbound_id, inbox_id, subject, message_id, in_reply_to, thread_id } = row;
  return {
    inbound_id,
    inbox_id,
    from: row.from_header,
    to: [...row.to_header],
    subject,
    text,
    html,
    truncated: isCut,
    attachments: attachments.map(({ filename, content_type, bytes }, number) => ({
      filename,
      content_type,
      bytes,
      url: links.link({ accountId, inboundId: inbound_id, number, filename, contentType: content_type }, nowMs),
    })),
    message_id,
    in_reply_to,
    thread_id,
    auth,
    received_at: iso(row.received_at),
  };
}
