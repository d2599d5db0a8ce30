// Reads of what the events of groups have in common: users, releases, environments, tags.
import { int8Array } from '../../db/arrays.ts';
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { KIND } from './capture-types.ts';
import { TOP_VALUES } from './limits.ts';

const selectTop = statement(
  'errors_select_top_values',
  `SELECT u.group_id, v.name, v.events
     FROM unnest($2::bigint[]) u(group_id),
          LATERAL (SELECT c.name, c.events FROM errors.value_count c
                    WHERE c.account_id = $1 AND c.group_id = u.group_id AND c.kind = $3
                    ORDER BY c.events DESC, c.name LIMIT $4) v`,
);
const sumKind = statement(
  'errors_sum_values',
  `SELECT coalesce(sum(v.events), 0) AS events FROM errors.value_count v WHERE v.account_id = $1 AND v.group_id = $2 AND v.kind = $3`,
);
const selectTags = statement(
  'errors_select_tags',
  `SELECT v.name, v.value, v.events FROM errors.value_count v
    WHERE v.account_id = $1 AND v.group_id = $2 AND v.kind = $3 ORDER BY v.name, v.events DESC, v.value`,
);

export interface TopRow {
  readonly group_id: bigint;
  readonly name: string;
  readonly events: bigint;
}

export type LabelKind = 'user' | 'release' | 'environment';

/** The most frequent 100 of each group, the most frequent first. */
export async function topValues(
  db: Queryable,
  accountId: string,
  groupIds: readonly bigint[],
  kind: LabelKind,
): Promise<TopRow[]> {
  return (await db.query<TopRow>(selectTop, [accountId, int8Array(groupIds), KIND[kind], TOP_VALUES])).rows;
}

/** How many events of the group have a value of the kind at all. */
export async function eventsWith(db: Queryable, accountId: string, groupId: bigint, kind: LabelKind): Promise<number> {
  const { rows } = await db.query<{ events: bigint }>(sumKind, [accountId, groupId, KIND[kind]]);
  return Number(rows[0]?.events ?? 0n);
}

export async function tagValues(
  db: Queryable,
  accountId: string,
  groupId: bigint,
): Promise<{ name: string; value: string; events: bigint }[]> {
  return (await db.query<{ name: string; value: string; events: bigint }>(selectTags, [accountId, groupId, KIND.tag]))
    .rows;
}
