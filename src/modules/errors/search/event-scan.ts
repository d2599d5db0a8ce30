// SQL of lists of events, newest first. Search words are in `terms`, and in `words` of events stored before `terms` existed. An index of each
// finds rare words but gives no order; the order of the numbers gives common ones at once. So a sample of the newest events decides which way to
// go (find-events.ts). Walks and samples go by the hot connections, which plan by index. A plan that expects few events of an account or a group
// would read them all and sort, and nobody knows beforehand whose are many.
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
  /** The beginning of one more word, with the mark; null: of none. */
  readonly prefix: string | null;
  readonly isResolved: boolean | null;
  readonly isIgnored: boolean | null;
}

export interface Sample {
  readonly scanned: number;
  readonly matching: number;
  /** Events that have the words, and those that have a word with the prefix; 0 where one of both is not asked for. */
  readonly whole: number;
  readonly beginning: number;
}

/** Matches of a span of time: all of them in `rows`, newest first, unless there are `foundMax` or more. */
interface Matches {
  readonly found: number;
  readonly rows: EventSummaryRow[];
}

/** From so many times as many events on, a prefix is left to the events that have the words. */
const BROADER = 4;

const COLUMNS =
  'e.seq, e.group_id, e.level, e.title, e.message, e.environment, e.release, e.user_id, e.occurred_at, e.tags, e.words, e.terms';
const SHOWN = `s.seq, s.group_id, s.level, s.title, left(s.message, ${LISTED_MESSAGE_CHARACTERS}) AS message, s.environment, s.release,
          s.user_id, s.occurred_at, s.tags, g.fingerprint, g.is_resolved, g.is_ignored`;
const RANGE = 'e.account_id = $1 AND e.seq >= $2 AND e.seq < $3';
const MATCH = '(s.terms @@ $4::tsquery OR s.words @> $7::text[])';
// What the index is asked for, then the rest of it: a function is not looked up in an index.
const indexedMatch = (indexed: string) =>
  `(e.terms @@ ${indexed}::tsquery AND ts_match_vq(e.terms, $4::tsquery) OR e.words @> $7::text[])`;
const PARTS_OF_S = `(count(*) FILTER (WHERE s.terms @@ $9::tsquery))::integer AS whole,
          (count(*) FILTER (WHERE s.terms @@ $10::tsquery))::integer AS beginning`;
const SHOWN_MATCH = `${MATCH} AND ($5::boolean IS NULL OR g.is_resolved = $5) AND ($6::boolean IS NULL OR g.is_ignored = $6)`;
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
     FROM (SELECT ${COLUMNS} FROM errors.event e WHERE ${RANGE} ORDER BY e.seq DESC LIMIT $9) s, ${GROUP_OF_S}
    WHERE ${SHOWN_MATCH}
    ORDER BY s.seq DESC LIMIT $8`,
);
const walkGroup = statement(
  'errors_walk_group',
  `SELECT ${SHOWN}
     FROM (SELECT ${COLUMNS} FROM errors.event e WHERE ${RANGE} AND e.group_id = $10 ORDER BY e.seq DESC LIMIT $9) s,
          ${GROUP_OF_S}
    WHERE ${SHOWN_MATCH}
    ORDER BY s.seq DESC LIMIT $8`,
);
const sampleAccount = statement(
  'errors_sample_account',
  `SELECT count(*)::integer AS scanned, (count(*) FILTER (WHERE ${MATCH} AND ${STATUS_OF_S}))::integer AS matching, ${PARTS_OF_S}
     FROM (SELECT e.group_id, e.words, e.terms FROM errors.event e WHERE ${RANGE} ORDER BY e.seq DESC LIMIT $8) s`,
);
const sampleGroup = statement(
  'errors_sample_group',
  `SELECT count(*)::integer AS scanned, (count(*) FILTER (WHERE ${MATCH} AND ${STATUS_OF_S}))::integer AS matching, ${PARTS_OF_S}
     FROM (SELECT e.group_id, e.words, e.terms FROM errors.event e WHERE ${RANGE} AND e.group_id = $11 ORDER BY e.seq DESC LIMIT $8) s`,
);
const countInOrder = statement(
  'errors_count_in_order',
  `SELECT count(*)::integer AS events
     FROM (SELECT 1 FROM (SELECT e.group_id, e.words, e.terms FROM errors.event e WHERE ${RANGE} ORDER BY e.seq DESC OFFSET 0) s
            WHERE ${MATCH} AND ${STATUS_OF_S} LIMIT $8) c`,
);
const countInGroup = statement(
  'errors_count_in_group',
  `SELECT count(*)::integer AS events
     FROM (SELECT 1 FROM (SELECT e.group_id, e.words, e.terms FROM errors.event e WHERE ${RANGE} AND e.group_id = $9 OFFSET 0) s
            WHERE ${MATCH} AND ${STATUS_OF_S} LIMIT $8) c`,
);
// Without a name, so planned for its values each time: how frequent the words are decides. A plan made once for all words read
// the whole primary key beside the index of words (75 against 1 ms for a word that is nowhere, 400,000 events).
const matchWords: Statement = {
  name: '',
  text: `WITH m AS MATERIALIZED (
     SELECT ${COLUMNS} FROM errors.event e
      WHERE ${RANGE} AND ($9::bigint IS NULL OR e.group_id = $9) AND ${indexedMatch('$11')} AND ${STATUS_OF_E} LIMIT $10)
   SELECT (SELECT count(*) FROM m)::integer AS found, ${SHOWN}
     FROM (SELECT m.* FROM m ORDER BY m.seq DESC LIMIT $8) s, ${GROUP_OF_S}
    ORDER BY s.seq DESC`,
};
const countByWords: Statement = {
  name: '',
  text: `SELECT count(*)::integer AS events
     FROM (SELECT 1 FROM (SELECT e.group_id FROM errors.event e
                           WHERE ${RANGE} AND ($9::bigint IS NULL OR e.group_id = $9) AND ${indexedMatch('$10')} OFFSET 0) s
            WHERE ${STATUS_OF_S} LIMIT $8) c`,
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
  const { words, prefix, groupId } = scope;
  const hasBoth = words.length > 0 && prefix !== null;
  const parts = hasBoth ? [termsQuery(words, null), termsQuery([], prefix)] : [null, null];
  const values = [...valuesOf(scope), window, ...parts];
  const found =
    groupId === null ? db.query<Sample>(sampleAccount, values) : db.query<Sample>(sampleGroup, [...values, groupId]);
  return (await found).rows[0] as Sample;
}

/**
 * What the index is to be asked for. All events with a prefix are read out of it before those with the words are looked for among them: of a
 * prefix that many have, this took 40 ms of 400,000 events, where the words alone are found in one.
 */
export function indexedQuery({ words, prefix }: EventScope, { whole, beginning }: Sample): string | null {
  return termsQuery(words, beginning > BROADER * whole ? null : prefix);
}

/** The `limit` newest matches by words, as long as there are fewer than `foundMax`. */
async function matchEvents(
  db: Queryable,
  scope: EventScope,
  limit: number,
  foundMax: number,
  indexed: string | null,
): Promise<Matches> {
  const values = [...valuesOf(scope), limit, scope.groupId, foundMax, indexed];
  const { rows } = await db.query<EventSummaryRow & { found: number }>(matchWords, values);
  return { found: rows[0]?.found ?? 0, rows };
}

/** How many events are in scope, counted up to `max`, in their order. */
export async function countInTheirOrder(db: Queryable, scope: EventScope, max: number): Promise<number> {
  const values = [...valuesOf(scope), max];
  const { groupId } = scope;
  const { rows } = await (groupId === null
    ? db.query<{ events: number }>(countInOrder, values)
    : db.query<{ events: number }>(countInGroup, [...values, groupId]));
  return rows[0]?.events ?? 0;
}

/** The same by the index, which is asked for `indexed`. */
export async function countByIndex(
  db: Queryable,
  scope: EventScope,
  max: number,
  indexed: string | null,
): Promise<number> {
  const { rows } = await db.query<{ events: number }>(countByWords, [...valuesOf(scope), max, scope.groupId, indexed]);
  return rows[0]?.events ?? 0;
}

function valuesOf({ accountId, fromSeq, belowSeq, words, prefix, isResolved, isIgnored }: EventScope): SqlValue[] {
  const whole = textArray(prefix === null ? words : [...words, prefix]);
  return [accountId, fromSeq, belowSeq, termsQuery(words, prefix), isResolved, isIgnored, whole];
}

/** As PostgreSQL writes a question; null for one without a word. Words hold neither quotes nor backslashes. */
function termsQuery(words: readonly string[], prefix: string | null): string | null {
  const terms = words.map((word) => `'${word}'`);
  if (prefix !== null) terms.push(`'${prefix}':*`);
  return terms.length === 0 ? null : terms.join(' & ');
}

// Looks for rare words day by day, from the newest day back: an index of words has no order, so all matches of a span are read and
// sorted. The span grows while little is found and shrinks where much is; a single day full of matches is walked in its order.

/** More matches of a span than these are not sorted. */
const SORTED_MAX = 2_000;
const GROWTH = 4;
const WHOLE_DAY = 2_147_483_647;

/** The `limit` newest events in scope; `newestSeq` is at or after the newest event there is, the index is asked for `indexed`. */
export async function searchBack(
  db: Database,
  scope: EventScope,
  limit: number,
  newestSeq: bigint,
  indexed: string | null,
): Promise<EventSummaryRow[]> {
  const rows: EventSummaryRow[] = [];
  let below = scope.belowSeq < newestSeq ? scope.belowSeq : newestSeq;
  let days = 1;
  while (rows.length < limit && below > scope.fromSeq) {
    const span = { ...scope, fromSeq: startOf(below, days, scope.fromSeq), belowSeq: below };
    const wanted = limit - rows.length;
    const matches = await matchEvents(db, span, wanted, SORTED_MAX, indexed);
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
