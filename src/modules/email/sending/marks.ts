// Marks of recipients, written before a mail is handed over. A process that finds a mark, and did not hand the mail over itself, knows that its
// acceptance is unknown. Marks of an account that come together are one commit.
import { int4Array, textArray } from '../../../db/arrays.ts';
import type { Database, Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { Coalescer } from '../../../lib/coalesce.ts';

const MARKS_PER_COMMIT = 100;

const lockAttempts = statement(
  'email_lock_attempts',
  `SELECT m.email_id, m.attempt FROM email.message m
    WHERE m.account_id = $1 AND m.email_id = ANY($2::text[]) ORDER BY m.email_id FOR UPDATE`,
);
const readSuspended = statement(
  'email_read_suspended',
  'SELECT w.suspended FROM core.wallet w WHERE w.account_id = $1',
);
const markRecipients = statement(
  'email_mark_recipients',
  `UPDATE email.recipient AS r SET sending = true
     FROM unnest($2::text[], $3::int[]) u(email_id, number)
    WHERE r.account_id = $1 AND r.email_id = u.email_id AND r.number = u.number AND r.status IN ('queued', 'scheduled', 'deferred')
   RETURNING r.email_id, r.number`,
);

interface ToMark {
  readonly emailId: string;
  /** Whose attempt it is: another one has begun, and nothing is marked. */
  readonly attempt: number;
  readonly numbers: readonly number[];
}

export class Marks {
  readonly #marking: Coalescer<ToMark, boolean>;

  constructor(db: Database) {
    this.#marking = new Coalescer({
      batchMax: MARKS_PER_COMMIT,
      run: (accountId, wanted) => markAll(db, accountId, wanted),
    });
  }

  /** False: another attempt has the mail, it was cancelled, or its account is suspended. */
  mark(accountId: string, emailId: string, attempt: number, numbers: readonly number[]): Promise<boolean> {
    return this.#marking.add(accountId, { emailId, attempt, numbers });
  }
}

/** Whether mail of the account may leave: it is there, and not suspended. */
export async function maySend(db: Queryable, accountId: string): Promise<boolean> {
  return (await db.query<{ suspended: boolean }>(readSuspended, [accountId])).rows[0]?.suspended === false;
}

function markAll(db: Database, accountId: string, wanted: readonly ToMark[]): Promise<boolean[]> {
  return db.transaction(async (tx) => {
    const ids = [...new Set(wanted.map(({ emailId }) => emailId))].sort();
    const [{ rows }, wallet] = await Promise.all([
      tx.query<{ email_id: string; attempt: number }>(lockAttempts, [accountId, textArray(ids)]),
      tx.query<{ suspended: boolean }>(readSuspended, [accountId]),
    ]);
    if (wallet.rows[0]?.suspended !== false) return wanted.map(() => false);
    const attempts = new Map(rows.map((row) => [row.email_id, row.attempt]));
    const ours = wanted.filter(({ emailId, attempt }) => attempts.get(emailId) === attempt);
    const pairs = ours.flatMap(({ emailId, numbers }) => numbers.map((number) => ({ emailId, number })));
    if (pairs.length === 0) return wanted.map(() => false);
    const marked = await tx.query<{ email_id: string; number: number }>(markRecipients, [
      accountId,
      textArray(pairs.map(({ emailId }) => emailId)),
      int4Array(pairs.map(({ number }) => number)),
    ]);
    const done = new Set(marked.rows.map((row) => `${row.email_id}\n${row.number}`));
    return wanted.map(
      (one) => ours.includes(one) && one.numbers.every((number) => done.has(`${one.emailId}\n${number}`)),
    );
  });
}
