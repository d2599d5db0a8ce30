// SQL of group activity: changes by hand or by a new event, and comments.

import { int8Array, textArray, timestampArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { newId } from '../../../lib/ids.ts';

export type ActivityType = 'resolved' | 'unresolved' | 'reopened' | 'ignored' | 'unignored' | 'assigned' | 'commented';

export interface NewActivity {
  readonly accountId: string;
  readonly groupId: bigint;
  readonly type: ActivityType;
  readonly keyId: string | null;
  readonly subject: string | null;
}

const insertActivity = statement(
  'errors_insert_activity',
  `INSERT INTO errors.activity AS a (account_id, group_id, activity_id, type, key_id, subject, created_at)
   SELECT w.account_id, u.group_id, u.activity_id, u.type, u.key_id, u.subject, u.created_at
     FROM core.wallet w, unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[])
          u(account_id, group_id, activity_id, type, key_id, subject, created_at)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);
const insertComment = statement(
  'errors_insert_comment',
  `INSERT INTO errors.comment (account_id, group_id, comment_id, text, key_id, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
);
const selectActivity = statement(
  'errors_select_activity',
  `SELECT activity_id, type, key_id, subject, created_at FROM errors.activity
    WHERE account_id = $1 AND group_id = $2 ORDER BY activity_id DESC LIMIT $3`,
);
const selectComments = statement(
  'errors_select_comments',
  `SELECT comment_id, text, key_id, created_at FROM errors.comment
    WHERE account_id = $1 AND group_id = $2 ORDER BY comment_id DESC LIMIT $3`,
);

// One descent of the key for each group.
const selectReopenings = statement(
  'errors_select_reopenings',
  `SELECT g.group_id, a.created_at FROM unnest($2::bigint[]) g(group_id)
    CROSS JOIN LATERAL (
      SELECT type, created_at FROM errors.activity
       WHERE account_id = $1 AND group_id = g.group_id AND type IN ('resolved', 'unresolved', 'reopened')
       ORDER BY activity_id DESC LIMIT 1
    ) a
    WHERE a.type = 'reopened'`,
);

export interface ActivityRow {
  readonly activity_id: string;
  readonly type: ActivityType;
  readonly key_id: string | null;
  readonly subject: string | null;
  readonly created_at: number;
}

export interface CommentRow {
  readonly comment_id: string;
  readonly text: string;
  readonly key_id: string;
  readonly created_at: number;
}

/** Sends the insert without awaiting it: a failure fails the transaction. */
export function sendActivity(tx: Queryable, entries: readonly NewActivity[], nowMs: number): void {
  if (entries.length === 0) return;
  void tx.query(insertActivity, [
    textArray([...new Set(entries.map((entry) => entry.accountId))].sort()),
    textArray(entries.map((entry) => entry.accountId)),
    int8Array(entries.map((entry) => entry.groupId)),
    textArray(entries.map(() => newId('act_', nowMs))),
    textArray(entries.map((entry) => entry.type)),
    textArray(entries.map((entry) => entry.keyId)),
    textArray(entries.map((entry) => entry.subject)),
    timestampArray(entries.map(() => nowMs)),
  ]);
}

/** Answers the id of the comment. */
export async function addComment(
  tx: Queryable,
  comment: { readonly accountId: string; readonly groupId: bigint; readonly text: string; readonly keyId: string },
  nowMs: number,
): Promise<string> {
  const id = newId('cmt_', nowMs);
  await tx.query(insertComment, [
    comment.accountId,
    comment.groupId,
    id,
    comment.text,
    comment.keyId,
    timestamp(nowMs),
  ]);
  return id;
}

/** The newest entries, newest first. */
export async function activityOf(
  db: Queryable,
  accountId: string,
  groupId: bigint,
  limit: number,
): Promise<ActivityRow[]> {
  return (await db.query<ActivityRow>(selectActivity, [accountId, groupId, limit])).rows;
}

/** When a new event reopened those of the groups that nobody resolved or reopened since. */
export async function reopeningsOf(
  db: Queryable,
  accountId: string,
  groupIds: readonly bigint[],
): Promise<ReadonlyMap<bigint, number>> {
  if (groupIds.length === 0) return new Map();
  const { rows } = await db.query<{ group_id: bigint; created_at: number }>(selectReopenings, [
    accountId,
    int8Array(groupIds),
  ]);
  return new Map(rows.map((row) => [row.group_id, row.created_at]));
}

/** The newest comments, newest first. */
export async function commentsOf(
  db: Queryable,
  accountId: string,
  groupId: bigint,
  limit: number,
): Promise<CommentRow[]> {
  return (await db.query<CommentRow>(selectComments, [accountId, groupId, limit])).rows;
}
