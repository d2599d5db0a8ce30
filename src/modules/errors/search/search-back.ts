// Looks for rare words day by day, from the newest day back: an index of words has no order, so all matches of a span are read and
// sorted. The span grows while little is found and shrinks where much is; a single day full of matches is walked in its order.
import type { Database } from '../../../db/database.ts';
import { sequenceMs } from '../../../lib/sequence.ts';
import { dayOf, firstOfDay } from '../retention.ts';
import { type EventScope, matchEvents, walkEvents } from './event-scan.ts';
import type { EventSummaryRow } from './event-store.ts';

/** More matches of a span than these are not sorted. */
const SORTED_MAX = 2_000;
const GROWTH = 4;
const WHOLE_DAY = 2_147_483_647;

/** The `limit` newest events in scope; `newestSeq` is at or after the newest event there is. */
export async function searchBack(
  db: Database,
  scope: EventScope,
  limit: number,
  newestSeq: bigint,
): Promise<EventSummaryRow[]> {
  const rows: EventSummaryRow[] = [];
  let below = scope.belowSeq < newestSeq ? scope.belowSeq : newestSeq;
  let days = 1;
  while (rows.length < limit && below > scope.fromSeq) {
    const span = { ...scope, fromSeq: startOf(below, days, scope.fromSeq), belowSeq: below };
    const wanted = limit - rows.length;
    const matches = await matchEvents(db, span, wanted, SORTED_MAX);
    if (matches.found >= SORTED_MAX && days > 1) {
      days = 1;
      continue;
    }
    rows.push(...(matches.found < SORTED_MAX ? matches.rows : await walkEvents(db, span, wanted, WHOLE_DAY)));
    below = span.fromSeq;
    days *= GROWTH;
  }
  return rows;
}

/** The first number of the span of `days` days that ends before `below`. */
function startOf(below: bigint, days: number, fromSeq: bigint): bigint {
  const start = firstOfDay(dayOf(sequenceMs(below - 1n)) - days + 1);
  return start > fromSeq ? start : fromSeq;
}
