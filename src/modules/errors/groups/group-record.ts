// Groups as callers see them (specification, "Error group").
import type { Queryable } from '../../../db/database.ts';
import { sequenceMs } from '../../../lib/sequence.ts';
import { iso, isoOrNull } from '../../../lib/time.ts';
import { dashboardUrl } from '../capture/ids.ts';
import { lastHours, parseCounts } from '../capture/period-counts.ts';
import { firstKeptSeq } from '../retention.ts';
import type { ErrorsState } from '../state.ts';
import { reopeningsOf } from './activity-store.ts';
import { topValues } from './facet-store.ts';
import type { GroupRow } from './group-store.ts';

/** The groups with their facets, in the order of the rows. */
export async function groupRecords(
  db: Queryable,
  state: ErrorsState,
  accountId: string,
  rows: readonly GroupRow[],
  nowMs: number,
) {
  const open = rows.filter((row) => !row.is_resolved && !row.is_ignored);
  const [environments, releases, reopenings] = await Promise.all([
    topValues(db, accountId, rows, 'environment'),
    topValues(db, accountId, rows, 'release'),
    reopeningsOf(
      db,
      accountId,
      open.map((row) => row.group_id),
    ),
  ]);
  const namesOf = (top: typeof releases, id: bigint) =>
    top.filter((row) => row.group_id === id).map(({ name }) => name);
  return rows.map((row) => {
    const errorGroupId = state.ids.groupId(accountId, row.group_id);
    const { sparkline, trend } = lastHours(parseCounts(row.hours), nowMs);
    return {
      error_group_id: errorGroupId,
      fingerprint: row.fingerprint.toString('hex'),
      title: row.title,
      exception_type: row.exception_type,
      first_seen_at: iso(sequenceMs(row.group_id)),
      last_seen_at: iso(sequenceMs(row.last_seq)),
      count: Number(row.count),
      user_count: Number(row.user_count),
      level: row.level,
      is_resolved: row.is_resolved,
      is_ignored: row.is_ignored,
      reopened_at: isoOrNull(reopenings.get(row.group_id) ?? null),
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
