// Groups as callers see them (specification, "Error group").
import type { Queryable } from '../../db/database.ts';
import { sequenceMs } from '../../lib/sequence.ts';
import { HOUR_MS, iso } from '../../lib/time.ts';
import { dashboardUrl } from './dashboard.ts';
import { type GroupRow, hoursOf } from './group-store.ts';
import { firstKeptSeq } from './retention.ts';
import type { ErrorsState } from './state.ts';
import { topValues } from './value-store.ts';

const HOURS = 24;

export interface Trend {
  readonly current: number;
  readonly previous: number;
  /** Null when there was nothing before. */
  readonly change_pct: number | null;
}

/** Events per clock hour: the 24 hours that end with the running one, and the 24 before them. */
export interface DayFigures {
  readonly firstHour: number;
  readonly sparkline: readonly number[];
  readonly trend: Trend;
}

/** The groups with their figures, in the order of the rows. */
export async function groupRecords(
  db: Queryable,
  state: ErrorsState,
  accountId: string,
  rows: readonly GroupRow[],
  nowMs: number,
) {
  const groupIds = rows.map((row) => row.group_id);
  const [figures, environments, releases] = await Promise.all([
    dayFigures(db, accountId, groupIds, nowMs),
    topValues(db, accountId, groupIds, 'environment'),
    topValues(db, accountId, groupIds, 'release'),
  ]);
  const namesOf = (top: typeof releases, id: bigint) =>
    top.filter((row) => row.group_id === id).map(({ name }) => name);
  return rows.map((row) => {
    const errorGroupId = state.ids.groupId(accountId, row.group_id);
    const { sparkline, trend } = figures.get(row.group_id) as DayFigures;
    return {
      error_group_id: errorGroupId,
      fingerprint: row.fingerprint.toString('hex'),
      title: row.title,
      first_seen_at: iso(sequenceMs(row.group_id)),
      last_seen_at: iso(sequenceMs(row.last_seq)),
      count: Number(row.count),
      user_count: Number(row.user_count),
      level: row.level,
      is_resolved: row.is_resolved,
      is_ignored: row.is_ignored,
      assigned_to: row.assigned_to,
      // The events of an old group may all be gone.
      sample_event_id: row.last_seq >= firstKeptSeq(nowMs) ? state.ids.eventId(accountId, row.last_seq) : null,
      environments: namesOf(environments, row.group_id),
      releases: namesOf(releases, row.group_id),
      trend_24h: trend,
      sparkline,
      dashboard_url: dashboardUrl(state.core.baseUrl, errorGroupId),
    };
  });
}

async function dayFigures(
  db: Queryable,
  accountId: string,
  groupIds: readonly bigint[],
  nowMs: number,
): Promise<Map<bigint, DayFigures>> {
  const firstHour = Math.floor(nowMs / HOUR_MS) - HOURS + 1;
  const rows = await hoursOf(db, accountId, groupIds, firstHour - HOURS);
  const counts = new Map(groupIds.map((id) => [id, new Array<number>(2 * HOURS).fill(0)]));
  for (const { group_id, hour, events } of rows) {
    const at = hour - firstHour + HOURS;
    const of = counts.get(group_id);
    if (of !== undefined && at < 2 * HOURS) of[at] = Number(events);
  }
  return new Map([...counts].map(([id, hours]) => [id, figuresOf(firstHour, hours)]));
}

function figuresOf(firstHour: number, hours: readonly number[]): DayFigures {
  const sum = (part: readonly number[]) => part.reduce((total, events) => total + events, 0);
  const previous = sum(hours.slice(0, HOURS));
  const sparkline = hours.slice(HOURS);
  const current = sum(sparkline);
  const change = previous === 0 ? null : Math.round(((current - previous) / previous) * 1_000) / 10;
  return { firstHour, sparkline, trend: { current, previous, change_pct: change } };
}
