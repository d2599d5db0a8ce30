// Queries of account.events.list: the numbered events of an account.
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
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

const readEvent = statement(
  'event_read_one',
  `SELECT account_id, sequence, event_id, type, data, request_id, test, created_at
     FROM core.event
    WHERE account_id = $1 AND event_id = $2`,
);

/** Null until it is numbered, and once it is too old. */
export async function numberedEvent(db: Queryable, accountId: string, eventId: string): Promise<EventRow | null> {
  return (await db.query<EventRow>(readEvent, [accountId, eventId])).rows[0] ?? null;
}

/** Events before the number `before` (null: the newest), newest first; none older than 30 days. */
export async function eventsOf(
  db: Queryable,
  accountId: string,
  filter: EventFilter,
  before: bigint | null,
  limit: number,
): Promise<EventRow[]> {
  const values = [
    accountId,
    before ?? 2n ** 63n - 1n,
    filter.type,
    timestamp(filter.fromMs),
    timestamp(filter.toMs),
    limit,
  ];
  return (await db.query<EventRow>(readEvents, values)).rows;
}
