// Exact numbers of events without counting them: sums of the day counters (contract §9, "total").
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';

export interface CountedFilter {
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
