// Full record of a group, which group_detail shows and every change of a group answers.

import { clockNow } from '../../../core/database-clock.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { HOUR_MS, iso } from '../../../lib/time.ts';
import { OTHER } from '../capture/facets.ts';
import { firstKeptSeq } from '../retention.ts';
import { eventRecord } from '../search/event-record.ts';
import { findEvent, neighboursOf } from '../search/event-store.ts';
import type { ErrorsState } from '../state.ts';
import { type ActivityRow, activityOf, type CommentRow, commentsOf } from './activity-store.ts';
import { eventsWith, type LabelKind, tagValues, topValues } from './facet-store.ts';
import { groupRecords } from './group-record.ts';
import { findGroup, type GroupRow } from './group-store.ts';

const NONE = '(none)';
const ENTRIES_MAX = 100;

// Counts that are read one after the other must add up while events arrive.
// The events next to the representative one are to be found in their order, however many a group has.
const inOrder = statement('errors_in_order', 'SET LOCAL enable_sort = off');
const oneSnapshot = statement('errors_one_snapshot', 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');

/** The group in full, as it was at one instant; null when the account has none of this number. */
export function readGroupDetail(state: ErrorsState, accountId: string, groupId: bigint): Promise<GroupDetail | null> {
  return state.core.db.transaction(async (tx) => {
    await tx.query(oneSnapshot, []);
    return groupDetail(tx, state, accountId, groupId);
  });
}

/** The same within a transaction that holds the wallet lock, or has one snapshot. */
export async function groupDetail(db: Transaction, state: ErrorsState, accountId: string, groupId: bigint) {
  await db.query(inOrder, []);
  const [group, nowMs] = await Promise.all([findGroup(db, accountId, groupId), clockNow(db)]);
  if (group === null) return null;
  const [records, representative, tags, users, releases, environments, comments, activity] = await Promise.all([
    groupRecords(db, state, accountId, [group], nowMs),
    representativeOf(db, state, accountId, group, nowMs),
    tagDistribution(db, accountId, group),
    distribution(db, accountId, group, 'user'),
    distribution(db, accountId, group, 'release'),
    distribution(db, accountId, group, 'environment'),
    commentsOf(db, accountId, groupId, ENTRIES_MAX),
    activityOf(db, accountId, groupId, ENTRIES_MAX),
  ]);
  const record = records[0] as (typeof records)[number];
  const firstHour = Math.floor(nowMs / HOUR_MS) - record.sparkline.length + 1;
  return {
    ...record,
    representative_event: representative,
    tag_distribution: tags,
    user_distribution: users,
    release_distribution: releases,
    environment_distribution: environments,
    timeline: record.sparkline.map((count, i) => ({ ts: iso((firstHour + i) * HOUR_MS), count })),
    comments: comments.map(commentRecord),
    activity_log: activity.map((entry) => activityRecord(state, accountId, entry, firstKeptSeq(nowMs))),
  };
}

export type GroupDetail = NonNullable<Awaited<ReturnType<typeof groupDetail>>>;

async function representativeOf(db: Queryable, state: ErrorsState, accountId: string, group: GroupRow, nowMs: number) {
  const first = firstKeptSeq(nowMs);
  if (group.last_seq < first) return null;
  const event = await findEvent(db, accountId, group.last_seq);
  return event === null ? null : eventRecord(state, accountId, event, await neighboursOf(db, accountId, event, first));
}

async function distribution(
  db: Queryable,
  accountId: string,
  group: GroupRow,
  kind: LabelKind,
): Promise<Record<string, number>> {
  const [top, having] = await Promise.all([
    topValues(db, accountId, [group], kind),
    eventsWith(db, accountId, group, kind),
  ]);
  const shown = top.reduce((sum, row) => sum + Number(row.events), 0);
  const counts = new Map(top.map(({ name, events }) => [name, Number(events)]));
  const add = (name: string, events: number) => {
    if (events > 0) counts.set(name, (counts.get(name) ?? 0) + events);
  };
  add(OTHER, having - shown);
  add(NONE, Number(group.count) - having);
  return Object.fromEntries(counts);
}

async function tagDistribution(db: Queryable, accountId: string, group: GroupRow): Promise<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { name, value, events } of await tagValues(db, accountId, group)) {
    const shown = `${name}:${value}`;
    counts.set(shown, (counts.get(shown) ?? 0) + Number(events));
  }
  return Object.fromEntries(counts);
}

function commentRecord({ comment_id, text, key_id, created_at }: CommentRow) {
  return { comment_id, text, key_id, created_at: iso(created_at) };
}

/** An event that is no longer there is not named. */
function activityRecord({ ids }: ErrorsState, accountId: string, entry: ActivityRow, firstSeq: bigint) {
  const { activity_id, type, key_id, subject, created_at } = entry;
  const seq = type === 'reopened' ? ids.parseEvent(accountId, subject as string) : null;
  return {
    activity_id,
    type,
    key_id,
    assigned_to: type === 'assigned' ? subject : null,
    comment_id: type === 'commented' ? subject : null,
    event_id: seq !== null && seq >= firstSeq ? subject : null,
    created_at: iso(created_at),
  };
}
