// Reads and writes of groups. Writes happen under the wallet lock of the account, like those of captures.
import type { Queryable } from '../../../db/database.ts';
import { type Statement, statement } from '../../../db/statement.ts';

export interface GroupRow {
  readonly group_id: bigint;
  readonly fingerprint: Buffer;
  readonly title: string;
  readonly level: string;
  readonly is_resolved: boolean;
  readonly is_ignored: boolean;
  readonly assigned_to: string | null;
  readonly count: bigint;
  readonly user_count: bigint;
  readonly last_seq: bigint;
  readonly hours: string;
  /** Null: they are rows of errors.facet_count. */
  readonly facets: string | null;
  readonly exception_type: string | null;
}

export interface ListedGroupRow extends GroupRow {
  /** The last number of the account when the row was read. */
  readonly as_of: bigint;
}

export type GroupStatus = 'unresolved' | 'resolved' | 'ignored';
export type GroupSort = 'count_desc' | 'last_seen_desc' | 'first_seen_desc';

/** Where a page of groups begins. */
export interface GroupPosition {
  /** Moving sorts leave out what was touched after this number. */
  readonly asOf: bigint;
  readonly count: bigint;
  readonly seq: bigint;
}

const COLUMNS =
  'g.group_id, g.fingerprint, g.title, g.level, g.is_resolved, g.is_ignored, g.assigned_to, g.count, g.user_count, g.last_seq, g.hours, g.facets, g.exception_type';
const AS_OF = '(SELECT w.last_seq FROM core.wallet w WHERE w.account_id = $1) AS as_of';
const STATUS = `($2::boolean IS NULL OR g.is_resolved = $2) AND ($3::boolean IS NULL OR g.is_ignored = $3)`;

const selectGroup = statement(
  'errors_select_group',
  `SELECT ${COLUMNS} FROM errors.error_group g WHERE g.account_id = $1 AND g.group_id = $2 AND g.last_seq > 0`,
);
const byFirstSeen = statement(
  'errors_groups_by_first_seen',
  `SELECT ${COLUMNS}, ${AS_OF} FROM errors.error_group g
    WHERE g.account_id = $1 AND g.count > 0 AND ${STATUS} AND g.group_id < $4
    ORDER BY g.group_id DESC LIMIT $5`,
);
const byLastSeen = statement(
  'errors_groups_by_last_seen',
  `SELECT ${COLUMNS}, ${AS_OF} FROM errors.error_group g
    WHERE g.account_id = $1 AND g.count > 0 AND ${STATUS} AND g.last_seq < $4 AND g.last_seq <= $6
    ORDER BY g.last_seq DESC LIMIT $5`,
);
const byCount = statement(
  'errors_groups_by_count',
  `SELECT ${COLUMNS}, ${AS_OF} FROM errors.error_group g
    WHERE g.account_id = $1 AND g.count > 0 AND ${STATUS} AND (g.count, g.group_id) < ($7, $4) AND g.last_seq <= $6
    ORDER BY g.count DESC, g.group_id DESC LIMIT $5`,
);
const countGroups = statement(
  'errors_count_groups',
  `SELECT count(*) AS groups FROM errors.error_group g WHERE g.account_id = $1 AND g.count > 0 AND ${STATUS}`,
);
const updateStatus = statement(
  'errors_update_status',
  'UPDATE errors.error_group SET is_resolved = $3, is_ignored = $4 WHERE account_id = $1 AND group_id = $2 AND last_seq > 0',
);
const updateAssignee = statement(
  'errors_update_assignee',
  'UPDATE errors.error_group SET assigned_to = $3 WHERE account_id = $1 AND group_id = $2 AND last_seq > 0',
);
const sorts: Readonly<Record<GroupSort, Statement>> = {
  first_seen_desc: byFirstSeen,
  last_seen_desc: byLastSeen,
  count_desc: byCount,
};

export async function findGroup(db: Queryable, accountId: string, groupId: bigint): Promise<GroupRow | null> {
  return (await db.query<GroupRow>(selectGroup, [accountId, groupId])).rows[0] ?? null;
}

/** `db` plans by index: an account with few groups by the statistics may have very many. */
export async function listGroups(
  db: Queryable,
  accountId: string,
  list: {
    readonly status: GroupStatus | null;
    readonly sort: GroupSort;
    readonly after: GroupPosition;
    readonly limit: number;
  },
): Promise<ListedGroupRow[]> {
  const { status, sort, after, limit } = list;
  const common = [accountId, ...statusValues(status), after.seq, limit];
  const moving = sort === 'first_seen_desc' ? [] : sort === 'last_seen_desc' ? [after.asOf] : [after.asOf, after.count];
  return (await db.query<ListedGroupRow>(sorts[sort], [...common, ...moving])).rows;
}

export async function numberOfGroups(db: Queryable, accountId: string, status: GroupStatus | null): Promise<number> {
  const { rows } = await db.query<{ groups: bigint }>(countGroups, [accountId, ...statusValues(status)]);
  return Number(rows[0]?.groups ?? 0n);
}

function statusValues(status: GroupStatus | null): [boolean | null, boolean | null] {
  if (status === null) return [null, null];
  if (status === 'unresolved') return [false, false];
  return status === 'resolved' ? [true, null] : [null, true];
}

export async function setStatus(
  tx: Queryable,
  accountId: string,
  groupId: bigint,
  status: { readonly isResolved: boolean; readonly isIgnored: boolean },
): Promise<void> {
  await tx.query(updateStatus, [accountId, groupId, status.isResolved, status.isIgnored]);
}

export async function setAssignee(tx: Queryable, accountId: string, groupId: bigint, to: string | null): Promise<void> {
  await tx.query(updateAssignee, [accountId, groupId, to]);
}
