// Approvals: calls that wait for a person, what people said of them, and under which of them a call has run. All times are the database's.
import { textArray } from '../db/arrays.ts';
import type { Database, Queryable, Transaction } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { timestamp } from '../db/types.ts';
import { resourceTable } from '../kit/resource.ts';
import { DAY_MS, HOUR_MS } from '../lib/time.ts';

/** Calls of an account that may wait at once. */
export const PENDING_MAX = 100;
/** How long a call that was denied, or that nobody decided, is told so. Later it may be asked for again. */
export const ANSWERED_FOR_MS = DAY_MS;
/** A call that has begun is repeated under its idempotency key, whose answer is kept for a day. */
export const REPEATED_FOR_MS = 20 * HOUR_MS;

export type StoredStatus = 'pending' | 'approved' | 'denied' | 'used' | 'replaced';
export type ApprovalStatus = 'pending' | 'approved' | 'denied' | 'expired' | 'used';

export interface ApprovalRow {
  readonly approval_id: string;
  readonly rule_name: string;
  readonly key_id: string;
  readonly capability: string;
  readonly call_hash: string;
  readonly input: string | null;
  readonly cost_nanos: bigint;
  readonly approvers: string | null;
  readonly reason_required: boolean;
  readonly status: StoredStatus;
  readonly request_id: string;
  readonly words: string | null;
  readonly decided_by: string | null;
  readonly decided_at: number | null;
  readonly started_at: number | null;
  readonly lasts_until: number | null;
  readonly left_nanos: bigint | null;
  readonly created_at: number;
  readonly expires_at: number;
}

/** An approval without its input, which may be long. */
export type ListedRow = Omit<ApprovalRow, 'input'>;

const LISTED =
  'approval_id, rule_name, key_id, capability, call_hash, cost_nanos, approvers, reason_required, status, request_id, words, ' +
  'decided_by, decided_at, started_at, lasts_until, left_nanos, created_at, expires_at';
const COLUMNS = `${LISTED}, input`;

export const approvalTable = resourceTable<ApprovalRow>({
  table: 'core.approval',
  key: 'approval_id',
  columns: COLUMNS,
  isNewestFirst: true,
});

/** The newest of a call: one that is open for each rule, and those under which it ran. */
const ROWS_OF_CALL_MAX = 100;
const findOfCall = statement(
  'approval_find_of_call',
  `SELECT ${LISTED}, core.clock_now() AS now
     FROM core.approval
    WHERE account_id = $1 AND call_hash = $2 AND status <> 'replaced'
    ORDER BY approval_id DESC
    LIMIT ${ROWS_OF_CALL_MAX}`,
);
const findLasting = statement(
  'approval_find_lasting',
  `SELECT approval_id, rule_name
     FROM core.approval
    WHERE account_id = $1 AND key_id = $2 AND status = 'approved' AND lasts_until > core.clock_now()
    ORDER BY lasts_until DESC
    LIMIT ${ROWS_OF_CALL_MAX}`,
);
const takeLasting = statement(
  'approval_take_lasting',
  `UPDATE core.approval SET left_nanos = left_nanos - $3
    WHERE account_id = $1 AND approval_id = ANY($2::text[]) AND status = 'approved' AND lasts_until > core.clock_now()
      AND left_nanos >= $3
      AND approval_id = (SELECT a.approval_id FROM core.approval a
                          WHERE a.account_id = $1 AND a.approval_id = ANY($2::text[]) AND a.status = 'approved'
                            AND a.lasts_until > core.clock_now() AND a.left_nanos >= $3
                          ORDER BY a.approval_id LIMIT 1)`,
);
const begin = statement(
  'approval_begin',
  `UPDATE core.approval SET started_at = $3
    WHERE account_id = $1 AND approval_id = ANY($2::text[]) AND status = 'approved' AND started_at IS NULL`,
);
const take = statement(
  'approval_take',
  `UPDATE core.approval SET status = 'used', started_at = $3
    WHERE account_id = $1 AND approval_id = ANY($2::text[]) AND status = 'approved'`,
);
const giveBack = statement(
  'approval_give_back',
  `UPDATE core.approval SET status = 'approved', started_at = NULL
    WHERE account_id = $1 AND approval_id = ANY($2::text[]) AND status = 'used'`,
);
const finish = statement(
  'approval_finish',
  `UPDATE core.approval SET status = 'used'
    WHERE account_id = $1 AND approval_id = ANY($2::text[]) AND status = 'approved' AND lasts_until IS NULL`,
);
const countPending = statement(
  'approval_count_pending',
  `SELECT count(*)::int AS pending, count(*) FILTER (WHERE created_at > core.clock_now() - interval '1 hour')::int AS recent
     FROM core.approval
    WHERE account_id = $1 AND status = 'pending' AND expires_at > core.clock_now()`,
);
const replaceOfCall = statement(
  'approval_replace_of_call',
  `UPDATE core.approval SET status = 'replaced', expires_at = LEAST(expires_at, $4)
    WHERE account_id = $1 AND call_hash = $2 AND rule_name = $3 AND status IN ('pending', 'approved', 'denied')`,
);
const replaceOfRule = statement(
  'approval_replace_of_rule',
  `UPDATE core.approval SET status = 'replaced', expires_at = LEAST(expires_at, $3)
    WHERE account_id = $1 AND rule_name = $2 AND status IN ('pending', 'approved', 'denied')`,
);
const insert = statement(
  'approval_insert',
  `INSERT INTO core.approval (account_id, approval_id, rule_name, key_id, capability, call_hash, input, cost_nanos, approvers,
                              reason_required, status, request_id, created_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'pending', $11, $12, $13)`,
);
const lockRow = statement(
  'approval_lock',
  `SELECT ${COLUMNS} FROM core.approval WHERE account_id = $1 AND approval_id = $2 FOR UPDATE`,
);
const saveDecision = statement(
  'approval_decide',
  `UPDATE core.approval
      SET status = $3, words = $4, decided_by = $5, decided_at = $6, expires_at = $7, lasts_until = $8, left_nanos = $9
    WHERE account_id = $1 AND approval_id = $2`,
);
/** What its callers see it as. */
const SEEN_STATUS = `CASE WHEN a.status = 'replaced' THEN 'expired'
                       WHEN a.status IN ('pending', 'approved') AND a.started_at IS NULL AND a.expires_at <= core.clock_now() THEN 'expired'
                       ELSE a.status END`;
const selectPage = statement(
  'approval_select_page',
  `SELECT ${LISTED}
     FROM core.approval a
    WHERE a.account_id = $1 AND a.approval_id < $2
      AND ($3::text IS NULL OR ${SEEN_STATUS} = $3::text)
      AND ($4::text IS NULL OR a.key_id = $4::text)
    ORDER BY a.approval_id DESC
    LIMIT $5::int`,
);
const hasUsed = statement(
  'approval_has_used',
  `SELECT 1 AS found FROM core.usage_hour
    WHERE account_id = $1 AND capability = $2 AND key_id = $3 AND request_count > error_count LIMIT 1`,
);
const hasRun = statement(
  'approval_has_run',
  `SELECT 1 AS found FROM core.approval
    WHERE account_id = $1 AND capability = $2 AND key_id = $3 AND status = 'used' LIMIT 1`,
);
const didLately = statement(
  'approval_key_did',
  `SELECT capability, sum(request_count - error_count)::bigint AS calls, sum(spend_nanos)::bigint AS spend_nanos
     FROM core.usage_hour
    WHERE account_id = $1 AND key_id = $2 AND hour >= core.clock_now() - interval '2 hours' AND request_count > error_count
    GROUP BY capability
    ORDER BY calls DESC
    LIMIT 10`,
);
export const findOldApprovals = statement(
  'approval_find_old',
  `/* fan-out: accounts with approvals that were asked for 90 days ago */
   SELECT account_id FROM core.approval WHERE created_at <= core.clock_now() - interval '90 days' GROUP BY account_id LIMIT $1`,
);
const selectOld = statement(
  'approval_select_old',
  `SELECT approval_id FROM core.approval WHERE account_id = $1 AND created_at <= core.clock_now() - interval '90 days' LIMIT $2::int`,
);
const deleteOld = statement(
  'approval_delete_old',
  'DELETE FROM core.approval WHERE account_id = $1 AND approval_id = ANY($2::text[])',
);

/** Those of a call, the newest first, and the time. */
export async function approvalsOfCall(
  db: Queryable,
  accountId: string,
  callHash: string,
): Promise<readonly (ListedRow & { readonly now: number })[]> {
  return (await db.query<ListedRow & { now: number }>(findOfCall, [accountId, callHash])).rows;
}

/** Ids of approvals for a time that the key has, by rule. */
export async function lastingOf(db: Queryable, accountId: string, keyId: string): Promise<Map<string, string[]>> {
  const { rows } = await db.query<{ approval_id: string; rule_name: string }>(findLasting, [accountId, keyId]);
  const byRule = Map.groupBy(rows, ({ rule_name: rule }) => rule);
  return new Map([...byRule].map(([rule, of]) => [rule, of.map(({ approval_id: id }) => id)]));
}

/** Takes so much from one of the approvals for a time. False: none of them has as much left. */
export async function takeFromLasting(
  db: Queryable,
  accountId: string,
  ids: readonly string[],
  nanos: bigint,
): Promise<boolean> {
  return (await db.query(takeLasting, [accountId, textArray(ids), nanos])).count === 1;
}

/** The call runs under them from now on; repeats do too, and find its answer. */
export async function beginUnder(
  db: Queryable,
  accountId: string,
  ids: readonly string[],
  nowMs: number,
): Promise<void> {
  await db.query(begin, [accountId, textArray(ids), timestamp(nowMs)]);
}

/** The call runs under them, and no other does. False: another was first. */
export async function takeAll(
  db: Pick<Database, 'transaction'>,
  accountId: string,
  ids: readonly string[],
  nowMs: number,
): Promise<boolean> {
  const notAll = new Error('not all of the approvals are there');
  try {
    await db.transaction(async (tx) => {
      const { count } = await tx.query(take, [accountId, textArray(ids), timestamp(nowMs)]);
      if (count !== ids.length) throw notAll;
    });
    return true;
  } catch (error) {
    if (error === notAll) return false;
    throw error;
  }
}

export async function giveBackAll(db: Queryable, accountId: string, ids: readonly string[]): Promise<void> {
  await db.query(giveBack, [accountId, textArray(ids)]);
}

export async function finishAll(db: Queryable, accountId: string, ids: readonly string[]): Promise<void> {
  await db.query(finish, [accountId, textArray(ids)]);
}

/** Of the account: how many wait, and how many of these came in the last hour. */
export async function pendingOf(db: Queryable, accountId: string): Promise<{ pending: number; recent: number }> {
  const { rows } = await db.query<{ pending: number; recent: number }>(countPending, [accountId]);
  return rows[0] ?? { pending: 0, recent: 0 };
}

export interface NewApproval
  extends Omit<
    ApprovalRow,
    'status' | 'words' | 'decided_by' | 'decided_at' | 'started_at' | 'lasts_until' | 'left_nanos'
  > {}

/** Takes the place of what the call had of the rule before. */
export async function insertApproval(tx: Transaction, accountId: string, row: NewApproval): Promise<void> {
  await tx.query(replaceOfCall, [accountId, row.call_hash, row.rule_name, timestamp(row.created_at)]);
  await tx.query(insert, [
    accountId,
    row.approval_id,
    row.rule_name,
    row.key_id,
    row.capability,
    row.call_hash,
    row.input,
    row.cost_nanos,
    row.approvers,
    row.reason_required,
    row.request_id,
    timestamp(row.created_at),
    timestamp(row.expires_at),
  ]);
}

/** The rule has changed or is gone: what was asked because of it is asked anew, if at all. */
export async function replaceApprovals(
  tx: Transaction,
  accountId: string,
  ruleName: string,
  nowMs: number,
): Promise<void> {
  await tx.query(replaceOfRule, [accountId, ruleName, timestamp(nowMs)]);
}

export async function lockApproval(
  tx: Transaction,
  accountId: string,
  approvalId: string,
): Promise<ApprovalRow | null> {
  return (await tx.query<ApprovalRow>(lockRow, [accountId, approvalId])).rows[0] ?? null;
}

export type Decision = Pick<
  ApprovalRow,
  'status' | 'words' | 'decided_by' | 'decided_at' | 'expires_at' | 'lasts_until' | 'left_nanos'
>;

export async function saveDecided(tx: Transaction, accountId: string, approvalId: string, to: Decision): Promise<void> {
  await tx.query(saveDecision, [
    accountId,
    approvalId,
    to.status,
    to.words,
    to.decided_by,
    timestamp(to.decided_at),
    timestamp(to.expires_at),
    timestamp(to.lasts_until),
    to.left_nanos,
  ]);
}

/** Of a status as callers see it, and of a key; null: of any. The newest first. */
export async function listApprovals(
  db: Queryable,
  accountId: string,
  { after, limit, status, keyId }: { after: string | null; limit: number; status: string | null; keyId: string | null },
): Promise<readonly ListedRow[]> {
  return (await db.query<ListedRow>(selectPage, [accountId, after ?? '~', status, keyId, limit])).rows;
}

/** Whether the key has made such a call before. */
export async function hasCalledBefore(
  db: Queryable,
  accountId: string,
  capability: string,
  keyId: string,
): Promise<boolean> {
  const of = [accountId, capability, keyId];
  // Calls of the last seconds are not in usage yet.
  const [used, run] = await Promise.all([db.query(hasUsed, of), db.query(hasRun, of)]);
  return used.rows.length > 0 || run.rows.length > 0;
}

export interface Deed {
  readonly capability: string;
  readonly calls: bigint;
  readonly spend_nanos: bigint;
}

/** What the key did in this hour and the one before, the most frequent first; what failed was not done. */
export async function deedsOf(db: Queryable, accountId: string, keyId: string): Promise<readonly Deed[]> {
  return (await db.query<Deed>(didLately, [accountId, keyId])).rows;
}

/** Removes up to `limit` of those past their time; answers how many. */
export async function removeOldApprovals(tx: Transaction, accountId: string, limit: number): Promise<number> {
  const { rows } = await tx.query<{ approval_id: string }>(selectOld, [accountId, limit]);
  return (await tx.query(deleteOld, [accountId, textArray(rows.map((row) => row.approval_id))])).count;
}

/** As callers see it. */
export function statusOf(
  row: Pick<ApprovalRow, 'status' | 'expires_at' | 'started_at'>,
  nowMs: number,
): ApprovalStatus {
  const { status } = row;
  if (status === 'replaced') return 'expired';
  const isOver = row.expires_at <= nowMs && row.started_at === null;
  return isOver && (status === 'pending' || status === 'approved') ? 'expired' : status;
}
