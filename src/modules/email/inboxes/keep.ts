// Stores one mail in one inbox. When this has answered `kept`, the mail is committed. The inbox's row is locked meanwhile: it counts, orders,
// and bounds incoming mail.
import { available } from '../../../assets/assets.ts';
import { openTurn } from '../../../core/background/turns.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import type { Services } from '../../../kit/services.ts';
import { newId } from '../../../lib/ids.ts';
import { MINUTE_MS } from '../../../lib/time.ts';
import type { MailAuth } from '../receiving/auth.ts';
import type { ParsedMail } from '../receiving/parse.ts';
import type { InboxRef } from './inboxes.ts';
import { KEPT_MAX, KNOWN_AGAIN_MS, PER_MINUTE_MAX, QUEUEING, SOURCE_IN_ROW_BYTES_MAX } from './limits.ts';
import { sourceKey } from './source.ts';
import { threadOf } from './thread-of.ts';

export interface NewMail {
  readonly inbox: InboxRef;
  readonly mail: ParsedMail;
  readonly auth: MailAuth;
  /** As it is kept, with the trace that this service put before it. */
  readonly source: Buffer;
  /** Of the mail as it was handed over: a repeat is known by it. */
  readonly digest: Buffer;
}

/** `full`: for now, the sender may try again. `gone`: there is no such inbox any more. */
export type Kept =
  | { readonly kind: 'kept' | 'known'; readonly inboundId: string }
  | { readonly kind: 'full'; readonly why: string }
  | { readonly kind: 'gone' };

/** Hint of the commit that brings mail to an inbox. */
export const arrivalOf = (inboxId: string) => `email.received ${inboxId}`;

const inboxNow = `SELECT i.last_seq, i.message_count, i.queue, core.clock_now() AS now
     FROM email.inbox i WHERE i.account_id = $1 AND i.inbox_id = $2`;
const readInbox = statement('email_read_inbox', inboxNow);
const lockInbox = statement('email_lock_inbox', `${inboxNow} FOR UPDATE`);
const findKnown = statement(
  'email_find_known_mail',
  `SELECT r.inbound_id FROM email.received r
    WHERE r.account_id = $1 AND r.inbox_id = $2 AND r.message_id = $3 AND r.digest = $4 AND r.received_at > $5 LIMIT 1`,
);
const findPace = statement(
  'email_find_inbox_pace',
  'SELECT r.received_at FROM email.received r WHERE r.account_id = $1 AND r.inbox_id = $2 AND r.seq = $3',
);
const insertMail = statement(
  'email_insert_received',
  `INSERT INTO email.received (account_id, inbound_id, inbox_id, seq, from_header, from_address, to_header, subject, content, digest,
                               message_id, in_reply_to, thread_id, source, source_bytes, source_stored, due_at, received_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7::text[], $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
);
const countMail = statement(
  'email_count_received',
  `UPDATE email.inbox SET last_seq = $3, message_count = message_count + 1 WHERE account_id = $1 AND inbox_id = $2`,
);

interface LockedInbox {
  readonly last_seq: bigint;
  readonly message_count: bigint;
  readonly queue: string | null;
  readonly now: number;
}

export async function keepMail(core: Services, mail: NewMail): Promise<Kept> {
  const inboundId = newId('eml_in_');
  const isStored = mail.source.length > SOURCE_IN_ROW_BYTES_MAX;
  const key = sourceKey(mail.inbox.accountId, inboundId);
  if (isStored) await available(core.log, () => core.assets.put(key, mail.source));
  const kept = await core.db.transaction((tx) => keepIn(tx, mail, { inboundId, isStored }), mail.inbox.accountId);
  // Where this fails, a sweep removes it with all that is too old.
  if (isStored && kept.kind !== 'kept') await available(core.log, () => core.assets.remove(key));
  return kept;
}

interface Facts {
  readonly inboundId: string;
  readonly isStored: boolean;
}

async function keepIn(tx: Transaction, mail: NewMail, { inboundId, isStored }: Facts): Promise<Kept> {
  const { accountId, inboxId } = mail.inbox;
  const inbox = (await tx.query<LockedInbox>(lockInbox, [accountId, inboxId])).rows[0];
  if (inbox === undefined) return { kind: 'gone' };
  const known = await knownMail(tx, mail, inbox.now);
  if (known !== null) return { kind: 'known', inboundId: known };
  const why = await fullBecause(tx, mail.inbox, inbox);
  if (why !== null) return { kind: 'full', why };
  const threadId = await threadOf(tx, accountId, mail.mail, inboundId);
  const seq = inbox.last_seq + 1n;
  const dueAt = inbox.queue === null ? null : timestamp(inbox.now);
  const { from, fromAddress, to, subject, messageId, inReplyTo } = mail.mail;
  await tx.query(insertMail, [
    ...[accountId, inboundId, inboxId, seq, from, fromAddress, textArray(to), subject, contentOf(mail), mail.digest],
    ...[
      messageId,
      inReplyTo,
      threadId,
      isStored ? null : Buffer.from(mail.source),
      mail.source.length,
      isStored,
      dueAt,
    ],
    timestamp(inbox.now),
  ]);
  await tx.query(countMail, [accountId, inboxId, seq]);
  if (dueAt !== null) await openTurn(tx, accountId, QUEUEING, inbox.now);
  tx.hint(arrivalOf(inboxId));
  return { kind: 'kept', inboundId };
}

async function knownMail(tx: Transaction, { inbox, mail, digest }: NewMail, nowMs: number) {
  if (mail.messageId === null) return null;
  const { rows } = await tx.query<{ inbound_id: string }>(findKnown, [
    ...[inbox.accountId, inbox.inboxId, mail.messageId, digest, timestamp(nowMs - KNOWN_AGAIN_MS)],
  ]);
  return rows[0]?.inbound_id ?? null;
}

/** Why the inbox takes no mail now; null: it does, or is gone. Another answer may hold when the mail is there. */
export async function fullReason(db: Queryable, ref: InboxRef): Promise<string | null> {
  const inbox = (await db.query<LockedInbox>(readInbox, [ref.accountId, ref.inboxId])).rows[0];
  return inbox === undefined ? null : fullBecause(db, ref, inbox);
}

/** Why the inbox takes no mail now; null: it does. */
async function fullBecause(tx: Queryable, { accountId, inboxId }: InboxRef, inbox: LockedInbox) {
  if (inbox.message_count >= BigInt(KEPT_MAX)) return `The inbox holds ${KEPT_MAX} mails.`;
  const first = inbox.last_seq - BigInt(PER_MINUTE_MAX) + 1n;
  const { rows } = await tx.query<{ received_at: number }>(findPace, [accountId, inboxId, first]);
  const isFast = rows[0] !== undefined && rows[0].received_at > inbox.now - MINUTE_MS;
  return isFast ? `The inbox takes ${PER_MINUTE_MAX} mails a minute.` : null;
}

/** What stands in `content`. */
export interface ReceivedContent
  extends Pick<ParsedMail, 'text' | 'html' | 'isCut' | 'attachments' | 'replyTo' | 'cc' | 'references'> {
  readonly auth: MailAuth;
}

function contentOf({ mail, auth }: NewMail): string {
  const { text, html, isCut, attachments, replyTo, cc, references } = mail;
  const content: ReceivedContent = { text, html, isCut, attachments, replyTo, cc, references, auth };
  return JSON.stringify(content);
}
