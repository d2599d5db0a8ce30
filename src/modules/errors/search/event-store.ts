// Reads of events. Summaries join the group, which holds what changes: its status.
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { sequenceMs } from '../../../lib/sequence.ts';
import { dayOf, firstOfDay } from '../retention.ts';

export interface EventSummaryRow {
  readonly seq: bigint;
  readonly group_id: bigint;
  readonly level: string;
  readonly title: string;
  readonly message: string | null;
  readonly environment: string | null;
  readonly release: string | null;
  readonly user_id: string | null;
  readonly occurred_at: number | null;
  readonly tags: string;
  readonly fingerprint: Buffer;
  readonly is_resolved: boolean;
  readonly is_ignored: boolean;
}

export interface EventRow extends EventSummaryRow {
  /** The block of its detail, and the line there. */
  readonly lines: Buffer;
  readonly detail_line: number;
  readonly group_last_seq: bigint;
  readonly group_count: bigint;
  readonly group_user_count: bigint;
}

export interface Neighbours {
  readonly previous: bigint | null;
  readonly next: bigint | null;
}

const selectEvent = statement(
  'errors_select_event',
  `SELECT e.seq, e.group_id, e.level, e.title, e.message, e.environment, e.release, e.user_id, e.occurred_at, e.tags,
          e.detail_line, d.lines,
          g.fingerprint, g.is_resolved, g.is_ignored, g.last_seq AS group_last_seq, g.count AS group_count,
          g.user_count AS group_user_count
     FROM errors.event e,
          LATERAL (SELECT o.fingerprint, o.is_resolved, o.is_ignored, o.last_seq, o.count, o.user_count FROM errors.error_group o
                    WHERE o.account_id = $1 AND o.group_id = e.group_id AND o.last_seq > 0 OFFSET 0) g,
          LATERAL (SELECT b.lines FROM errors.event_detail b
                    WHERE b.account_id = $1 AND b.seq = e.detail_seq AND b.seq >= $3 AND b.seq < $4 OFFSET 0) d
    WHERE e.account_id = $1 AND e.seq = $2`,
);
const selectNeighbours = statement(
  'errors_select_neighbours',
  `SELECT (SELECT p.seq FROM errors.event p WHERE p.account_id = $1 AND p.group_id = $2 AND p.seq < $3 AND p.seq >= $4
            ORDER BY p.seq DESC LIMIT 1) AS previous,
          (SELECT n.seq FROM errors.event n WHERE n.account_id = $1 AND n.group_id = $2 AND n.seq > $3 ORDER BY n.seq LIMIT 1) AS next`,
);

/** One event in full; null when there is none of this number. */
export async function findEvent(db: Queryable, accountId: string, seq: bigint): Promise<EventRow | null> {
  const day = dayOf(sequenceMs(seq));
  // The block is of the same day: said with values, the other partitions are not opened.
  const values = [accountId, seq, firstOfDay(day), firstOfDay(day + 1)];
  return (await db.query<EventRow>(selectEvent, values)).rows[0] ?? null;
}

/** The events of its group just before and after one; those before `firstSeq` are over. */
export async function neighboursOf(
  db: Queryable,
  accountId: string,
  { group_id: groupId, seq }: Pick<EventRow, 'group_id' | 'seq'>,
  firstSeq: bigint,
): Promise<Neighbours> {
  const { rows } = await db.query<Neighbours>(selectNeighbours, [accountId, groupId, seq, firstSeq]);
  return rows[0] as Neighbours;
}

// Exact numbers of events without counting them: sums of the day counters (contract of errors, "total").

interface CountedFilter {
  readonly accountId: string;
  readonly firstDay: number;
  readonly environment: string | null;
  readonly level: string | null;
  readonly groupId: bigint | null;
  readonly isResolved: boolean | null;
  readonly isIgnored: boolean | null;
}

const sumDays = statement(
  'errors_sum_days',
  `SELECT coalesce(sum(d.events), 0) AS events
     FROM errors.day_count d
    WHERE d.account_id = $1 AND d.group_id = $2 AND d.day >= $3
      AND ($4::text IS NULL OR d.environment = $4) AND ($5::text IS NULL OR d.level = $5)`,
);
const sumDaysByStatus = statement(
  'errors_sum_days_by_status',
  `SELECT coalesce(sum(d.events), 0) AS events
     FROM errors.error_group g, errors.day_count d
    WHERE g.account_id = $1 AND g.count > 0 AND ($2::bigint IS NULL OR g.group_id = $2)
      AND ($6::boolean IS NULL OR g.is_resolved = $6) AND ($7::boolean IS NULL OR g.is_ignored = $7)
      AND d.account_id = $1 AND d.group_id = g.group_id AND d.day >= $3
      AND ($4::text IS NULL OR d.environment = $4) AND ($5::text IS NULL OR d.level = $5)`,
);

/** The exact number of events that are there. */
export async function totalOf(db: Queryable, filter: CountedFilter): Promise<number> {
  const { accountId, firstDay, environment, level, groupId, isResolved, isIgnored } = filter;
  const { rows } =
    isResolved === null && isIgnored === null
      ? await db.query<{ events: bigint }>(sumDays, [accountId, groupId ?? 0n, firstDay, environment, level])
      : await db.query<{ events: bigint }>(sumDaysByStatus, [
          accountId,
          groupId,
          firstDay,
          environment,
          level,
          isResolved,
          isIgnored,
        ]);
  return Number(rows[0]?.events ?? 0n);
}
