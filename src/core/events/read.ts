// What account.events.list shows: the numbered events of an account.
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import type { EventRow } from './wire.ts';

export interface EventFilter {
  readonly type: string | null;
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

const readEvents = statement(
  'event_read_page',
  `SELECT account_id, sequence, event_id, type, data, request_id, test, created_at
     FROM core.event
    WHERE account_id = $1 AND sequence < $2
      AND ($3::text IS NULL OR type = $3)
      AND ($4::timestamptz IS NULL OR created_at >= $4) AND ($5::timestamptz IS NULL OR created_at < $5)
      AND created_at > core.clock_now() - interval '30 days'
    ORDER BY sequence DESC
    LIMIT $6`,
);

/** Events before the number `before` (null: the newest), newest first; none older than 30 days. */
export async function eventsOf(
  db: Queryable,
  accountId: string,
  filter: EventFilter,
  before: bigint | null,
  limit: number,
): Promise<EventRow[]> {
  const date = (ms: number | null) => (ms === null ? null : new Date(ms));
  const values = [accountId, before ?? 2n ** 63n - 1n, filter.type, date(filter.fromMs), date(filter.toMs), limit];
  return (await db.query<EventRow>(readEvents, values)).rows;
}
