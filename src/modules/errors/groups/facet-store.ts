// Reads of the facets of groups: users, releases, environments, tags.
import { int8Array } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { type FacetCount, KIND } from '../capture/capture-types.ts';
import { parseFacets } from '../capture/facets.ts';
import { TOP_VALUES } from '../limits.ts';

const selectTop = statement(
  'errors_select_top_values',
  `SELECT u.group_id, v.name, v.events
     FROM unnest($2::bigint[]) u(group_id),
          LATERAL (SELECT c.name, c.events FROM errors.facet_count c
                    WHERE c.account_id = $1 AND c.group_id = u.group_id AND c.kind = $3
                    ORDER BY c.events DESC, c.name LIMIT $4) v`,
);
const sumKind = statement(
  'errors_sum_values',
  `SELECT coalesce(sum(v.events), 0) AS events FROM errors.facet_count v WHERE v.account_id = $1 AND v.group_id = $2 AND v.kind = $3`,
);
const selectTags = statement(
  'errors_select_tags',
  `SELECT v.name, v.value, v.events FROM errors.facet_count v
    WHERE v.account_id = $1 AND v.group_id = $2 AND v.kind = $3 ORDER BY v.name, v.events DESC, v.value`,
);

/** A group, as far as its facets go. */
export interface FacetHolder {
  readonly group_id: bigint;
  /** Null: they are rows. */
  readonly facets: string | null;
}

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
  groups: readonly FacetHolder[],
  kind: LabelKind,
): Promise<TopRow[]> {
  const inline = groups.flatMap((group) =>
    inlineOf(group, KIND[kind])
      .toSorted((a, b) => b[3] - a[3] || byBytes(a[1], b[1]))
      .map(([, name, , events]) => ({ group_id: group.group_id, name, events: BigInt(events) })),
  );
  const others = groups.filter(({ facets }) => facets === null);
  if (others.length === 0) return inline;
  const groupIds = int8Array(others.map(({ group_id: id }) => id));
  return [...inline, ...(await db.query<TopRow>(selectTop, [accountId, groupIds, KIND[kind], TOP_VALUES])).rows];
}

/** How many events of the group have a value of the kind at all. */
export async function eventsWith(
  db: Queryable,
  accountId: string,
  group: FacetHolder,
  kind: LabelKind,
): Promise<number> {
  if (group.facets !== null) return inlineOf(group, KIND[kind]).reduce((sum, [, , , events]) => sum + events, 0);
  const { rows } = await db.query<{ events: bigint }>(sumKind, [accountId, group.group_id, KIND[kind]]);
  return Number(rows[0]?.events ?? 0n);
}

export interface TagRow {
  readonly name: string;
  readonly value: string;
  readonly events: bigint;
}

/** By name, the most frequent first. */
export async function tagValues(db: Queryable, accountId: string, group: FacetHolder): Promise<readonly TagRow[]> {
  if (group.facets === null) return (await db.query<TagRow>(selectTags, [accountId, group.group_id, KIND.tag])).rows;
  return inlineOf(group, KIND.tag)
    .toSorted((a, b) => byBytes(a[1], b[1]) || b[3] - a[3] || byBytes(a[2], b[2]))
    .map(([, name, value, events]) => ({ name, value, events: BigInt(events) }));
}

function inlineOf({ facets }: FacetHolder, kind: number): FacetCount[] {
  return [...(parseFacets(facets)?.values() ?? [])].filter(([of]) => of === kind);
}

/** The order of the database. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
