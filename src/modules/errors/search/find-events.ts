// Pages of events for list, search and the events of a group: newest first, with the total.
// Positions are sequence numbers: events only ever come in above a page, so a walk shows none twice and misses none that was there.

import { clockNow } from '../../../core/database-clock.ts';
import { decodeCursor, encodeCursor, page } from '../../../core/secrets/cursors.ts';
import type { Database } from '../../../db/database.ts';
import type { CallContext } from '../../../kit/services.ts';
import { sequenceAt, sequenceMs } from '../../../lib/sequence.ts';
import { searchedWords } from '../../../lib/words/words.ts';
import { findGroup } from '../groups/group-store.ts';
import { COUNTED_MAX } from '../limits.ts';
import { dayOf, firstKeptSeq } from '../retention.ts';
import type { ErrorsState } from '../state.ts';
import {
  countByIndex,
  countInTheirOrder,
  type EventScope,
  indexedQuery,
  type Sample,
  sampleEvents,
  searchBack,
  walkEvents,
} from './event-scan.ts';
import { type EventSummaryRow, totalOf } from './event-store.ts';
import type { EventFilter } from './filter.ts';
import { valueWord } from './value-word.ts';

const SAMPLE = 1_000;
/** From this share of matches on, the order finds them sooner than the index of words. */
const COMMON_SHARE = 0.2;
/** So many events are walked rather than all matches of a day be read and sorted: 2,000 of them take as long as 5,000 steps. */
const WALKED_MAX = 5_000;
const EVERYTHING = 2_147_483_647;
const SEQ_MAX = 2n ** 63n - 1n;

export interface EventQuery {
  readonly filter: EventFilter;
  /** Null: no search. */
  readonly q: string | null;
  readonly cursor: string | undefined;
  readonly limit: number;
  /** Whatever else the cursor is bound to. */
  readonly binding: readonly string[];
}

export interface EventPage {
  readonly rows: readonly EventSummaryRow[];
  /** The number of the event just above the page; null at the top. */
  readonly above: bigint | null;
  /** The number of the one just below it; null at the end. */
  readonly below: bigint | null;
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
  readonly total: number;
  readonly isTotalCapped: boolean;
}

/** One page. Throws INVALID_CURSOR for a cursor of another list. */
export async function findEvents(ctx: CallContext, state: ErrorsState, query: EventQuery): Promise<EventPage> {
  const { db, secrets } = ctx.core;
  const binding = [ctx.accountId, ctx.capability, ...query.binding];
  const position = query.cursor === undefined ? null : decodeCursor(secrets, binding, query.cursor);
  const wanted = scopeOf(ctx.accountId, state, query, await clockNow(db));
  const scope = wanted === null ? null : await withoutStatus(db, wanted);
  if (scope === null) return nothing;
  const above = position === null ? null : BigInt(position[0] as string);
  const carried = position?.[1] === undefined ? null : Number(position[1]);
  const below = above === null || above > scope.belowSeq ? scope.belowSeq : above;
  const { rows, total } = await readPage(db, scope, { below, limit: query.limit, carried }, query);
  const isCapped = !isCounted(query) && total > COUNTED_MAX;
  const shown = page(rows, query.limit, ({ seq }) => encodeCursor(secrets, binding, [String(seq), total]));
  return {
    rows: shown.items,
    above,
    below: rows[query.limit]?.seq ?? null,
    nextCursor: shown.next_cursor,
    hasMore: shown.has_more,
    total: isCapped ? COUNTED_MAX : total,
    isTotalCapped: isCapped,
  };
}

const nothing: EventPage = {
  rows: [],
  above: null,
  below: null,
  nextCursor: null,
  hasMore: false,
  total: 0,
  isTotalCapped: false,
};

interface Place {
  readonly below: bigint;
  readonly limit: number;
  /** The total that the first page found. */
  readonly carried: number | null;
}

async function readPage(
  db: Database,
  whole: EventScope,
  { below, limit, carried }: Place,
  query: EventQuery,
): Promise<{ rows: EventSummaryRow[]; total: number }> {
  const scope = { ...whole, belowSeq: below };
  const exact = isCounted(query) ? totalOf(db, countedFilter(whole, query)) : null;
  if (isOpen(scope)) {
    const [rows, total] = await Promise.all([walkEvents(db, scope, limit + 1, limit + 1), exact]);
    return { rows, total: total ?? carried ?? (await countInTheirOrder(db, whole, COUNTED_MAX + 1)) };
  }
  const [sample, total] = await Promise.all([sampleEvents(db, scope, SAMPLE), exact]);
  const rows = await readMatching(db, scope, limit + 1, sample);
  return { rows, total: total ?? carried ?? (await countMatching(db, whole, sample)) };
}

/** The status of one group says all of its events or none: null for none. */
async function withoutStatus(db: Database, scope: EventScope): Promise<EventScope | null> {
  const { accountId, groupId, isResolved, isIgnored } = scope;
  if (groupId === null || (isResolved === null && isIgnored === null)) return scope;
  const group = await findGroup(db, accountId, groupId);
  const has = group !== null && group.is_resolved === (isResolved ?? group.is_resolved);
  return has && group.is_ignored === (isIgnored ?? group.is_ignored)
    ? { ...scope, isResolved: null, isIgnored: null }
    : null;
}

/** Nothing but numbers and perhaps a group to look at. */
function isOpen({ words, prefix, isResolved, isIgnored }: EventScope): boolean {
  return words.length === 0 && prefix === null && isResolved === null && isIgnored === null;
}

async function readMatching(
  db: Database,
  scope: EventScope,
  limit: number,
  sample: Sample,
): Promise<EventSummaryRow[]> {
  const isInSample = sample.matching >= limit || sample.scanned < SAMPLE;
  if (isInSample) return walkEvents(db, scope, limit, SAMPLE);
  if (!hasWords(scope)) return walkEvents(db, scope, limit, EVERYTHING);
  // Twice as far as they would be if all were as dense as the newest.
  const window = Math.ceil((2 * limit * SAMPLE) / sample.matching);
  if (window <= WALKED_MAX) {
    const rows = await walkEvents(db, scope, limit, window);
    if (rows.length === limit) return rows;
  }
  // A minute of room: numbers may run ahead of the clock when very many are handed out in a millisecond.
  return searchBack(db, scope, limit, sequenceAt((await clockNow(db)) + 60_000), indexedQuery(scope, sample));
}

/** `sample` is of the top of the list: only the first page counts. */
async function countMatching(db: Database, scope: EventScope, sample: Sample): Promise<number> {
  if (sample.scanned < SAMPLE) return sample.matching;
  const isCommon = !hasWords(scope) || sample.matching >= SAMPLE * COMMON_SHARE;
  return isCommon
    ? countInTheirOrder(db, scope, COUNTED_MAX + 1)
    : countByIndex(db, scope, COUNTED_MAX + 1, indexedQuery(scope, sample));
}

function hasWords({ words, prefix }: EventScope): boolean {
  return words.length > 0 || prefix !== null;
}

/** Whether the counters know the total. */
function isCounted({ filter, q }: EventQuery): boolean {
  return q === null && filter.words.length === 0 && filter.fromMs === null && filter.toMs === null;
}

function countedFilter({ accountId, fromSeq, groupId, isResolved, isIgnored }: EventScope, { filter }: EventQuery) {
  const firstDay = dayOf(sequenceMs(fromSeq));
  return { accountId, firstDay, environment: filter.environment, level: filter.level, groupId, isResolved, isIgnored };
}

/** Null when nothing can match: a group that is not the account's, a search without a word. */
function scopeOf(accountId: string, state: ErrorsState, query: EventQuery, nowMs: number): EventScope | null {
  const { filter, q } = query;
  const groupId = filter.groupId === null ? null : state.ids.parseGroup(accountId, filter.groupId);
  if (filter.groupId !== null && groupId === null) return null;
  const searched = q === null ? { whole: [], prefix: null } : searchedWords(q);
  if (q !== null && searched.prefix === null) return null;
  const mark = state.ids.searchMark(accountId);
  const words = [
    ...searched.whole,
    ...filter.words,
    ...(filter.environment === null ? [] : [valueWord('environment', filter.environment)]),
    ...(filter.level === null ? [] : [valueWord('level', filter.level)]),
  ];
  const kept = firstKeptSeq(nowMs);
  const from = filter.fromMs === null ? kept : sequenceAt(filter.fromMs);
  return {
    accountId,
    fromSeq: from > kept ? from : kept,
    belowSeq: filter.toMs === null ? SEQ_MAX : sequenceAt(filter.toMs),
    groupId,
    words: words.map((word) => mark + word),
    prefix: searched.prefix === null ? null : mark + searched.prefix,
    isResolved: filter.isResolved,
    isIgnored: filter.isIgnored,
  };
}
