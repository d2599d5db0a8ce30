// SQL of lists of events, newest first. What is looked for stands in `words`; a GIN index finds rare words, but gives no order, and
// the order of the numbers gives common ones at once. So a sample of the newest events decides which way to go.
// Measured with a million events on two cores: see docs/performance.md.
import { textArray } from '../../db/arrays.ts';
import type { Queryable } from '../../db/database.ts';
import { type SqlValue, type Statement, statement } from '../../db/statement.ts';
import type { EventSummaryRow } from './event-store.ts';
import { LISTED_MESSAGE_CHARACTERS } from './limits.ts';

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

const SHOWN = `e.seq, e.group_id, e.level, e.title, left(e.message, ${LISTED_MESSAGE_CHARACTERS}) AS message, e.environment, e.release,
          e.user_id, e.occurred_at, e.tags, g.fingerprint, g.is_resolved, g.is_ignored`;
const MATCHES = `e.words @> $4::text[] AND ($5::boolean IS NULL OR g.is_resolved = $5) AND ($6::boolean IS NULL OR g.is_ignored = $6)`;

const walkAccount = statement(
  'errors_walk_account',
  `SELECT ${SHOWN}
     FROM (SELECT a.seq, a.group_id, a.level, a.title, a.message, a.environment, a.release, a.user_id, a.occurred_at, a.tags, a.words
             FROM errors.event a WHERE a.account_id = $1 AND a.seq >= $2 AND a.seq < $3 ORDER BY a.seq DESC LIMIT $8) e,
          errors.error_group g
    WHERE g.account_id = $1 AND g.group_id = e.group_id AND ${MATCHES}
    ORDER BY e.seq DESC LIMIT $7`,
);
const walkGroup = statement(
  'errors_walk_group',
  `SELECT ${SHOWN}
     FROM (SELECT a.seq, a.group_id, a.level, a.title, a.message, a.environment, a.release, a.user_id, a.occurred_at, a.tags, a.words
             FROM errors.event a WHERE a.account_id = $1 AND a.group_id = $9 AND a.seq >= $2 AND a.seq < $3
            ORDER BY a.seq DESC LIMIT $8) e,
          errors.error_group g
    WHERE g.account_id = $1 AND g.group_id = e.group_id AND ${MATCHES}
    ORDER BY e.seq DESC LIMIT $7`,
);
const sampleAccount = statement(
  'errors_sample_account',
  `SELECT count(*)::integer AS scanned, count(*) FILTER (WHERE ${MATCHES})::integer AS matching
     FROM (SELECT a.group_id, a.words FROM errors.event a WHERE a.account_id = $1 AND a.seq >= $2 AND a.seq < $3
            ORDER BY a.seq DESC LIMIT $7) e,
          errors.error_group g
    WHERE g.account_id = $1 AND g.group_id = e.group_id`,
);
const sampleGroup = statement(
  'errors_sample_group',
  `SELECT count(*)::integer AS scanned, count(*) FILTER (WHERE ${MATCHES})::integer AS matching
     FROM (SELECT a.group_id, a.words FROM errors.event a
            WHERE a.account_id = $1 AND a.group_id = $8 AND a.seq >= $2 AND a.seq < $3 ORDER BY a.seq DESC LIMIT $7) e,
          errors.error_group g
    WHERE g.account_id = $1 AND g.group_id = e.group_id`,
);
// OFFSET 0 keeps the order and the limit out of the search: it is to go by the words.
const searchWords = statement(
  'errors_search_words',
  `WITH m AS MATERIALIZED (
     SELECT f.seq FROM (SELECT e.seq FROM errors.event e, errors.error_group g
                         WHERE e.account_id = $1 AND e.seq >= $2 AND e.seq < $3 AND ($8::bigint IS NULL OR e.group_id = $8)
                           AND g.account_id = $1 AND g.group_id = e.group_id AND ${MATCHES} OFFSET 0) f
      ORDER BY f.seq DESC LIMIT $7)
   SELECT ${SHOWN}
     FROM m, errors.event e, errors.error_group g
    WHERE e.account_id = $1 AND e.seq = m.seq AND e.seq >= $2 AND e.seq < $3 AND g.account_id = $1 AND g.group_id = e.group_id
    ORDER BY e.seq DESC`,
);
const countByWords = statement(
  'errors_count_by_words',
  `SELECT count(*)::integer AS events
     FROM (SELECT 1 FROM (SELECT e.seq FROM errors.event e, errors.error_group g
                           WHERE e.account_id = $1 AND e.seq >= $2 AND e.seq < $3 AND ($8::bigint IS NULL OR e.group_id = $8)
                             AND g.account_id = $1 AND g.group_id = e.group_id AND ${MATCHES} OFFSET 0) f
            LIMIT $7) c`,
);
const countInOrder = statement(
  'errors_count_in_order',
  `SELECT count(*)::integer AS events
     FROM (SELECT 1 FROM (SELECT a.group_id, a.words FROM errors.event a
                           WHERE a.account_id = $1 AND a.seq >= $2 AND a.seq < $3 ORDER BY a.seq DESC OFFSET 0) e,
                         errors.error_group g
            WHERE g.account_id = $1 AND g.group_id = e.group_id AND ${MATCHES}
            LIMIT $7) c`,
);
const countInGroup = statement(
  'errors_count_in_group',
  `SELECT count(*)::integer AS events
     FROM (SELECT 1 FROM (SELECT a.group_id, a.words FROM errors.event a
                           WHERE a.account_id = $1 AND a.group_id = $8 AND a.seq >= $2 AND a.seq < $3
                           ORDER BY a.seq DESC OFFSET 0) e,
                         errors.error_group g
            WHERE g.account_id = $1 AND g.group_id = e.group_id AND ${MATCHES}
            LIMIT $7) c`,
);

/** Events in scope, newest first, among the `window` newest. */
export async function walkEvents(
  db: Queryable,
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
export async function sampleEvents(db: Queryable, scope: EventScope, window: number): Promise<Sample> {
  const values = [...valuesOf(scope), window];
  const { groupId } = scope;
  const found =
    groupId === null ? db.query<Sample>(sampleAccount, values) : db.query<Sample>(sampleGroup, [...values, groupId]);
  return (await found).rows[0] as Sample;
}

/** Events in scope, newest first, found by their words. */
export async function searchEvents(db: Queryable, scope: EventScope, limit: number): Promise<EventSummaryRow[]> {
  return (await db.query<EventSummaryRow>(searchWords, [...valuesOf(scope), limit, scope.groupId])).rows;
}

/** How many events are in scope, counted up to `max`: in their order where many match, else by their words. */
export async function countEvents(db: Queryable, scope: EventScope, max: number, inOrder: boolean): Promise<number> {
  const values = [...valuesOf(scope), max];
  const [way, all]: [Statement, SqlValue[]] = !inOrder
    ? [countByWords, [...values, scope.groupId]]
    : scope.groupId === null
      ? [countInOrder, values]
      : [countInGroup, [...values, scope.groupId]];
  const { rows } = await db.query<{ events: number }>(way, all);
  return rows[0]?.events ?? 0;
}

function valuesOf({ accountId, fromSeq, belowSeq, words, isResolved, isIgnored }: EventScope) {
  return [accountId, fromSeq, belowSeq, textArray(words), isResolved, isIgnored];
}
