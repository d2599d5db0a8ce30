// Thread of a mail. The thread's name derives from its first mail, so sent mail and the answers to it need no row to meet. A mail that names an
// earlier received one is in that one's thread.
import { createHash } from 'node:crypto';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';

export interface Threaded {
  readonly messageId: string | null;
  readonly inReplyTo: string | null;
  readonly references: readonly string[];
}

const NAMED_MAX = 20;
const DIGEST_CHARACTERS = 22;

const findNamed = statement(
  'email_find_thread',
  `SELECT r.message_id, r.thread_id FROM email.received r WHERE r.account_id = $1 AND r.message_id = ANY($2::text[])`,
);

/** `ownId`: of the mail that is received, for one without Message-ID. */
export async function threadOf(db: Queryable, accountId: string, mail: Threaded, ownId: string): Promise<string> {
  const { messageId, inReplyTo, references } = mail;
  // The last named is the nearest.
  const named = [...references.slice(-NAMED_MAX), ...(inReplyTo === null ? [] : [inReplyTo])].reverse();
  if (named.length > 0) {
    const { rows } = await db.query<{ message_id: string; thread_id: string }>(findNamed, [
      accountId,
      textArray(named),
    ]);
    const threads = new Map(rows.map((row) => [row.message_id, row.thread_id]));
    const nearest = named.find((each) => threads.has(each));
    if (nearest !== undefined) return threads.get(nearest) as string;
  }
  return threadFrom(accountId, references[0] ?? inReplyTo ?? messageId ?? ownId);
}

/** The conversation that the mail with this Message-ID begins. */
export function threadFrom(accountId: string, messageId: string): string {
  const digest = createHash('sha256').update(`${accountId}\n${messageId}`).digest('hex');
  return `thr_${digest.slice(0, DIGEST_CHARACTERS)}`;
}
