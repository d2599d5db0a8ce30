// Search of sent mail by recipient and by words of its subject, newest first. Each page looks at the next thousand mails at most, those of the
// recipient by an index. So rare matches give short pages, and the caller goes on with their cursor.
import Type from 'typebox';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';

const LOOKED_AT_MAX = 1_000;
export const SUBJECT_CHARACTERS_MAX = 200;
const WORDS_MAX = 10;

const selectNewest = statement(
  'email_search_newest',
  `SELECT m.email_id FROM email.message m WHERE m.account_id = $1 AND m.email_id < $2::text ORDER BY m.email_id DESC LIMIT $3::int`,
);
const selectOfRecipient = statement(
  'email_search_recipient',
  `SELECT DISTINCT r.email_id
     FROM email.recipient r
    WHERE r.account_id = $1 AND lower(r.address) = lower($4::text) AND r.email_id < $2::text
    ORDER BY r.email_id DESC
    LIMIT $3::int`,
);
const selectWanted = statement(
  'email_search_wanted',
  `SELECT m.email_id
     FROM email.message m
    WHERE m.account_id = $1 AND m.email_id = ANY($2::text[]) AND ($3::text IS NULL OR m.status = $3::text)
      AND m.subject ILIKE ALL ($4::text[])
    ORDER BY m.email_id DESC
    LIMIT $5::int`,
);

/** A whole address that mail is sought by. */
export const soughtAddress = (description: string) =>
  Type.String({ minLength: 3, maxLength: 320, pattern: '^[^\\p{Cc}\\p{Cs}]*$', description });

export interface SoughtMail {
  readonly status: string | null;
  /** A whole address, in any case. */
  readonly recipient: string | null;
  /** Words, each of which the subject holds, in any case. */
  readonly subject: string | null;
}

export interface FoundMail {
  readonly emailIds: readonly string[];
  /** Behind which the next page begins; null: there is no more. */
  readonly nextAfter: string | null;
}

/** `after`: an id, or null for the newest. */
export async function searchMessages(
  db: Queryable,
  accountId: string,
  { status, recipient, subject }: SoughtMail,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<FoundMail> {
  const bounds = [accountId, after ?? '~', LOOKED_AT_MAX] as const;
  const lookedAt =
    recipient === null
      ? await db.query<{ email_id: string }>(selectNewest, [...bounds])
      : await db.query<{ email_id: string }>(selectOfRecipient, [...bounds, recipient]);
  const ids = lookedAt.rows.map(({ email_id }) => email_id);
  const values = [accountId, textArray(ids), status, textArray(subjectPatterns(subject ?? '')), limit + 1];
  const wanted = (await db.query<{ email_id: string }>(selectWanted, values)).rows.map(({ email_id }) => email_id);
  const emailIds = wanted.slice(0, limit);
  if (wanted.length > limit) return { emailIds, nextAfter: emailIds.at(-1) ?? null };
  return { emailIds, nextAfter: ids.length === LOOKED_AT_MAX ? (ids.at(-1) ?? null) : null };
}

/** Of the words that a subject is to hold, each for ILIKE. */
export function subjectPatterns(subject: string): string[] {
  const words = subject.split(/\s+/u).filter((word) => word !== '');
  return words.slice(0, WORDS_MAX).map((word) => `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`);
}
