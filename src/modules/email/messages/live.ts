// Query of `qm doctor`: the mails that still have a hold of their own.
import { textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';

// A batch is named by its first mail, and goes on while any of its mails does.
const selectLive = statement(
  'email_select_live',
  `SELECT f.email_id FROM email.message f
    WHERE f.account_id = $1 AND f.email_id = ANY($2::text[])
      AND EXISTS (SELECT 1 FROM email.message m WHERE m.account_id = $1 AND m.hold_id = f.hold_id AND m.due_at IS NOT NULL)`,
);

export async function liveMails(
  db: Queryable,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ email_id: string }>(selectLive, [accountId, textArray(ids)]);
  return new Set(rows.map(({ email_id }) => email_id));
}
