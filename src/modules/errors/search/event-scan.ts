// SQL of lists of events, newest first. What is looked for stands in `words`; a GIN index finds rare words, but gives no order, and
// the order of the numbers gives common ones at once. So a sample of the newest events decides which way to go (find-events.ts).
// Walks and samples go by the hot connections, which plan by index: a plan that expects few events of an account or a group would
// read them all and sort, and nobody knows beforehand whose are many.
import { textArray } from '../../../db/arrays.ts';
import type { Database, Queryable } from '../../../db/database.ts';
import { type SqlValue, type Statement, statement } from '../../../db/statement.ts';
import { sequenceMs } from '../../../lib/sequence.ts';
import { LISTED_MESSAGE_CHARACTERS } from '../limits.ts';
import { dayOf, firstOfDay } from '../retention.ts';
import type { EventSummaryRow } from './event-store.ts';

/** What events are looked for. */
export interface EventScope {
  readonly accountId: string;
  /** Numbers from here on, … */
  readonly fromSeq: bigint;
  /** … below this one. */
  readonly belowSeq: bigint;
  readonly groupId: bigint | null;
  /** All of them, with the mark of the account. */
  readonly words: readonly string[];
  readonly isResolved: boolean | null;
  readonly isIgnored: boolean | null;
}

export interface Sample {
  readonly scanned: number;
  readonly matching: number;
}

/** Matches of a span of time: all of them in `rows`, newest first, unless there are `foundMax` or more. */
interface Matches {
  readonly found: number;
  readonly rows: EventSummaryRow[];
}

const COLUMNS =
  'e.seq, e.group_id, e.level, e.title, e.message, e.environment, e.release, e.user_id, e.occurred_at, e.tags, e.words';
const SHOWN = `s.seq, s.group_id, s.level, s.title, left(s.message, ${LISTED_MESSAGE_CHARACTERS}) AS message, s.environment, s.release,
          s.user_id, s.occurred_at, s.tags, g.fingerprint, g.is_resolved, g.is_ignored`;
const RANGE = 'e.account_id = $1 AND e.seq >= $2 AND e.seq < $3';
const SHOWN_MATCH = `s.words @> $4::text[] AND ($5::boolean IS NULL OR g.is_resolved = $5) AND ($6::boolean IS NULL OR g.is_ignored = $6)`;
// OFFSET 0 makes it a look-up for each row; joined, all groups of an account were read for each.
const GROUP_OF_S = `LATERAL (SELECT o.fingerprint, o.is_resolved, o.is_ignored FROM errors.error_group o
                    WHERE o.account_id = $1 AND o.group_id = s.group_id AND o.last_seq > 0 OFFSET 0) g`;
// The group is looked at only where its status matters.
const STATUS_OF_S = `($5::boolean IS NULL AND $6::boolean IS NULL OR EXISTS (
             SELECT 1 FROM errors.error_group g WHERE g.account_id = $1 AND g.group_id = s.group_id AND g.last_seq > 0
                AND ($5 IS NULL OR g.is_resolved = $5) AND ($6 IS NULL OR g.is_ignored = $6)))`;
const STATUS_OF_E = `($5::boolean IS NULL AND $6::boolean IS NULL OR EXISTS (
             SELECT 1 FROM errors.error_group g WHERE g.account_id = $1 AND g.group_id = e.group_id AND g.last_seq > 0
                AND ($5 IS NULL OR g.is_resolved = $5) AND ($6 IS NULL OR g.is_ignored = $6)))`;

const walkAccount = statement(
  'errors_walk_account',
  `SELECT ${SHOWN}
     FROM (SELECT ${COLUMNS} FROM errors.event e WHERE ${RANGE} ORDER BY e.seq DESC LIMIT $8) s, ${GROUP_OF_S}
    WHERE ${SHOWN_MATCH}
    ORDER BY s.seq DESC LIMIT $7`,
);
const walkGroup = statement(
  'errors_walk_group',
  `SELECT ${SHOWN}
     FROM (SELECT ${COLUMNS} FROM errors.event e WHERE ${RANGE} AND e.group_id = $9 ORDER BY e.seq DESC LIMIT $8) s,
          ${GROUP_OF_S}
    WHERE ${SHOWN_MATCH}
    ORDER BY s.seq DESC LIMIT $7`,
);
const sampleAccount = statement(
  'errors_sample_account',
  `SELECT count(*)::integer AS scanned, (count(*) FILTER (WHERE s.words @> $4::text[] AND ${STATUS_OF_S}))::integer AS matching
     FROM (SELECT e.group_id, e.words FROM errors.event e WHERE ${RANGE} ORDER BY e.seq DESC LIMIT $7) s`,
);
const sampleGroup = statement(
  'errors_sample_group',
  `SELECT count(*)::integer AS scanned, (count(*) FILTER (WHERE s.words @> $4::text[] AND ${STATUS_OF_S}))::integer AS matching
     FROM (SELECT e.group_id, e.words FROM errors.event e WHERE ${RANGE} AND e.group_id = $8 ORDER BY e.seq DESC LIMIT $7) s`,
);
const countInOrder = statement(
  'errors_count_in_order',
  `SELECT count(*)::integer AS events
     FROM (SELECT 1 FROM (SELECT e.group_id, e.words FROM errors.event e WHERE ${RANGE} ORDER BY e.seq DESC OFFSET 0) s
            WHERE s.words @> $4::text[] AND ${STATUS_OF_S} LIMIT $7) c`,
);
const countInGroup = statement(
  'errors_count_in_group',
  `SELECT count(*)::integer AS events
     FROM (SELECT 1 FROM (SELECT e.group_id, e.words FROM errors.event e WHERE ${RANGE} AND e.group_id = $8 OFFSET 0) s
            WHERE s.words @> $4::text[] AND ${STATUS_OF_S} LIMIT $7) c`,
);
// Without a name, so planned for its values each time: how frequent the words are decides. A plan made once for all words read
// the whole primary key beside the index of words (75 against 1 ms for a word that is nowhere, 400,000 events).
const matchWords: Statement = {
  name: '',
  text: `WITH m AS MATERIALIZED (
     SELECT ${COLUMNS} FROM errors.event e
      WHERE ${RANGE} AND ($8::bigint IS NULL OR e.group_id = $8) AND e.words @> $4::text[] AND ${STATUS_OF_E} LIMIT $9)
   SELECT (SELECT count(*) FROM m)::integer AS found, ${SHOWN}
     FROM (SELECT m.* FROM m ORDER BY m.seq DESC LIMIT $7) s, ${GROUP_OF_S}
    ORDER BY s.seq DESC`,
};
const countByWords: Statement = {
  name: '',
  text: `SELECT count(*)::integer AS events
     FROM (SELECT 1 FROM (SELECT e.group_id FROM errors.event e
                           WHERE ${RANGE} AND ($8::bigint IS NULL OR e.group_id = $8) AND e.words @> $4::text[] OFFSET 0) s
            WHERE ${STATUS_OF_S} LIMIT $7) c`,
};

/** Events in scope, newest first, among the `window` newest. */
export async function walkEvents(
  { hot: db }: Database,
  scope: EventScope,
  limit: number,
  window: number,
): Promise<EventSummaryRow[]> {
  const values = [...valuesOf(scope), limit, window];
  const { groupId } = scope;
  const found =
    groupId === null
      ? db.query<EventSummaryRow>(walkAccount, values)
      : db.query<EventSummaryRow>(walkGroup, [...values, groupId]);
  return (await found).rows;
}

/** How many of the `window` newest events match. */
export async function sampleEvents({ hot: db }: Database, scope: EventScope, window: number): Promise<Sample> {
  const values = [...valuesOf(scope), window];
  const { groupId } = scope;
  const found =
    groupId === null ? db.query<Sample>(sampleAccount, values) : db.query<Sample>(sampleGroup, [...values, groupId]);
  return (await found).rows[0] as Sample;
}

/** The `limit` newest matches by words, as long as there are fewer than `foundMax`. */
async function matchEvents(db: Queryable, scope: EventScope, limit: number, foundMax: number): Promise<Matches> {
  const values = [...valuesOf(scope), limit, scope.groupId, foundMax];
  const { rows } = await db.query<EventSummaryRow & { found: number }>(matchWords, values);
  return { found: rows[0]?.found ?? 0, rows };
}

/** How many events are in scope, counted up to `max`: in their order where many match, else by their words. */
export async function countEvents(db: Queryable, scope: EventScope, max: number, inOrder: boolean): Promise<number> {
  const { rows } = await db.query<{ events: number }>(...countOf(scope, max, inOrder));
  return rows[0]?.events ?? 0;
}

function countOf(scope: EventScope, max: number, inOrder: boolean): [Statement, SqlValue[]] {
  const values = [...valuesOf(scope), max];
  if (!inOrder) return [countByWords, [...values, scope.groupId]];
  return scope.groupId === null ? [countInOrder, values] : [countInGroup, [...values, scope.groupId]];
}

function valuesOf({ accountId, fromSeq, belowSeq, words, isResolved, isIgnored }: EventScope): SqlValue[] {
  return [accountId, fromSeq, belowSeq, textArray(words), isResolved, isIgnored];
}

// Looks for rare words day by day, from the newest day back: an index of words has no order, so all matches of a span are read and
// sorted. The span grows while little is found and shrinks where much is; a single day full of matches is walked in its order.

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
