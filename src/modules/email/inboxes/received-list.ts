// Received mail of all inboxes, the newest first, by sender and by words of its subject. Each page looks at the next thousand mails at most, so
// rare matches give short pages, and the caller goes on with their cursor. What the mails say lies beside their rows and is not read.
import Type, { type Static } from 'typebox';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { iso } from '../../../lib/time.ts';
import { subjectPatterns } from '../messages/search.ts';
import { inboundSchema, type ReceivedRow } from './received.ts';

export const RECEIVED_LOOKED_AT_MAX = 1_000;

export const receivedSummarySchema = Type.Pick(inboundSchema, [
  'inbound_id',
  'inbox_id',
  'from',
  'to',
  'subject',
  'message_id',
  'in_reply_to',
  'thread_id',
  'received_at',
]);

const selectNewest = statement(
  'email_received_newest',
  `SELECT r.inbound_id FROM email.received r
    WHERE r.account_id = $1 AND r.inbound_id < $2::text ORDER BY r.inbound_id DESC LIMIT $3::int`,
);
const selectWanted = statement(
  'email_received_wanted',
  `SELECT r.inbound_id, r.inbox_id, r.from_header, r.to_header, r.subject, r.message_id, r.in_reply_to, r.thread_id, r.received_at
     FROM email.received r
    WHERE r.account_id = $1 AND r.inbound_id = ANY($2::text[])
      AND ($3::text IS NULL OR lower(r.from_address) = lower($3::text)) AND r.subject ILIKE ALL ($4::text[])
    ORDER BY r.inbound_id DESC
    LIMIT $5::int`,
);

type SummaryRow = Omit<ReceivedRow, 'seq' | 'content'>;

export interface SoughtReceived {
  /** A whole address, in any case; null: of everybody. */
  readonly sender: string | null;
  /** Words, each of which the subject holds, in any case. */
  readonly subject: string | null;
}

export interface FoundReceived {
  readonly rows: readonly SummaryRow[];
  /** Behind which the next page begins; null: there is no more. */
  readonly nextAfter: string | null;
}

/** `after`: an id, or null for the newest. */
export async function findReceived(
  db: Queryable,
  accountId: string,
  { sender, subject }: SoughtReceived,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<FoundReceived> {
  const lookedAt = await db.query<{ inbound_id: string }>(selectNewest, [
    accountId,
    after ?? '~',
    RECEIVED_LOOKED_AT_MAX,
  ]);
  const ids = lookedAt.rows.map(({ inbound_id: id }) => id);
  const values = [accountId, textArray(ids), sender, textArray(subjectPatterns(subject ?? '')), limit + 1];
  const wanted = (await db.query<SummaryRow>(selectWanted, values)).rows;
  const rows = wanted.slice(0, limit);
  if (wanted.length > limit) return { rows, nextAfter: rows.at(-1)?.inbound_id ?? null };
  return { rows, nextAfter: ids.length === RECEIVED_LOOKED_AT_MAX ? (ids.at(-1) ?? null) : null };
}

export function receivedSummary(row: SummaryRow): Static<typeof receivedSummarySchema> {
  return {
    inbound_id: row.inbound_id,
    inbox_id: row.inbox_id,
    from: row.from_header,
    to: [...row.to_header],
    subject: row.subject,
    message_id: row.message_id,
    in_reply_to: row.in_reply_to,
    thread_id: row.thread_id,
    received_at: iso(row.received_at),
  };
}
