// SQL of capture. Every statement is set-based over the accounts of a lane commit; their wallets are locked. Long texts are bound one by one: as
// elements of an array they would be copied once more each.
import { byteaArray, int2Array, int4Array, int8Array, textArray, timestampArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import type { FacetCount, GroupState } from './capture-types.ts';
import type { DetailPosition } from './detail-blocks.ts';
import { countsText } from './period-counts.ts';

// Each row by its whole key: OFFSET 0 keeps the planner from joining, which read all groups of an account, and all facets of a group.
export const readGroups = statement(
  'errors_capture_read_groups',
  `SELECT g.*
     FROM unnest($2::text[], $3::bytea[]) u(account_id, fingerprint),
          LATERAL (SELECT e.account_id, e.fingerprint, e.group_id, e.title, e.level, e.is_resolved, e.is_ignored, e.count, e.user_count,
                          e.tag_names, e.last_seq, e.recent, e.hours, e.facets, e.told_at, e.anomaly_at, e.exception_type
                     FROM errors.error_group e
                    WHERE e.account_id = ANY($1::text[]) AND e.account_id = u.account_id AND e.fingerprint = u.fingerprint OFFSET 0) g`,
);
/** Facets name their group by its place in the first two columns, from 1. */
export const readFacets = statement(
  'errors_capture_read_facets',
  `WITH k AS MATERIALIZED (
     SELECT array_agg(coalesce(g.group_id, 0) ORDER BY u.n) AS ids
       FROM unnest($2::text[], $3::bytea[]) WITH ORDINALITY u(account_id, fingerprint, n)
       LEFT JOIN LATERAL (SELECT e.group_id FROM errors.error_group e
                           WHERE e.account_id = ANY($1::text[]) AND e.account_id = u.account_id AND e.fingerprint = u.fingerprint
                           OFFSET 0) g ON true)
   SELECT u.position::integer AS position, v.events
     FROM k, unnest($4::text[], $5::integer[], $6::smallint[], $7::text[], $8::text[]) WITH ORDINALITY
             u(account_id, place, kind, name, value, position),
          LATERAL (SELECT c.events FROM errors.facet_count c
                    WHERE c.account_id = ANY($1::text[]) AND c.account_id = u.account_id AND c.group_id = k.ids[u.place]
                      AND c.kind = u.kind AND c.name = u.name AND c.value = u.value OFFSET 0) v`,
);
const insertEvents = statement(
  'errors_capture_insert_events',
  `INSERT INTO errors.event AS e (account_id, seq, group_id, level, title, message, environment, release, user_id, occurred_at,
                                  tags, detail_seq, detail_line, terms)
   SELECT w.account_id, u.seq, u.group_id, u.level, u.title, u.message, u.environment, u.release, u.user_id, u.occurred_at,
          u.tags, u.detail_seq, u.detail_line, array_to_tsvector(string_to_array(u.words, ' '))
     FROM core.wallet w, unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
                                $10::text[], $11::timestamptz[], $12::text[], $13::bigint[], $14::integer[], $15::text[])
          u(account_id, seq, group_id, level, title, message, environment, release, user_id, occurred_at, tags, detail_seq,
            detail_line, words)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);
const insertEvent = statement(
  'errors_capture_insert_event',
  `INSERT INTO errors.event (account_id, seq, group_id, level, title, message, environment, release, user_id, occurred_at,
                             tags, detail_seq, detail_line, terms)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, array_to_tsvector(string_to_array($14::text, ' ')))`,
);
const upsertGroups = statement(
  'errors_capture_upsert_groups',
  `INSERT INTO errors.error_group AS g (account_id, fingerprint, group_id, title, level, is_resolved, is_ignored, count, user_count,
                                        tag_names, last_seq, recent, hours, facets, told_at, anomaly_at,
                                        exception_type)
   SELECT w.account_id, u.fingerprint, u.group_id, u.title, u.level, false, false, u.events, u.users, u.tag_names, u.last_seq,
          u.recent, u.hours, u.facets, u.told_at, u.anomaly_at, u.exception_type
     FROM core.wallet w, unnest($2::text[], $3::bytea[], $4::bigint[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::integer[],
                                $10::bigint[], $11::text[], $12::text[], $13::text[], $14::timestamptz[], $15::timestamptz[],
                                $16::text[])
          u(account_id, fingerprint, group_id, title, level, events, users, tag_names, last_seq, recent, hours, facets, told_at, anomaly_at,
            exception_type)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id, fingerprint) DO UPDATE
      SET level = excluded.level, is_resolved = false, count = g.count + excluded.count,
          user_count = g.user_count + excluded.user_count, tag_names = g.tag_names + excluded.tag_names,
          last_seq = greatest(g.last_seq, excluded.last_seq), recent = excluded.recent, hours = excluded.hours, facets = excluded.facets,
          told_at = excluded.told_at, anomaly_at = excluded.anomaly_at, exception_type = excluded.exception_type`,
);
const upsertDays = statement(
  'errors_capture_upsert_days',
  `INSERT INTO errors.day_count AS d (account_id, group_id, day, environment, level, events)
   SELECT w.account_id, u.group_id, u.day, u.environment, u.level, u.events
     FROM core.wallet w, unnest($2::text[], $3::bigint[], $4::integer[], $5::text[], $6::text[], $7::bigint[])
          u(account_id, group_id, day, environment, level, events)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id, group_id, day, environment, level) DO UPDATE SET events = d.events + excluded.events`,
);
const upsertFacets = statement(
  'errors_capture_upsert_facets',
  `INSERT INTO errors.facet_count AS v (account_id, group_id, kind, name, value, events)
   SELECT w.account_id, u.group_id, u.kind, u.name, u.value, u.events
     FROM core.wallet w, unnest($2::text[], $3::bigint[], $4::smallint[], $5::text[], $6::text[], $7::bigint[])
          u(account_id, group_id, kind, name, value, events)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id, group_id, kind, name, value) DO UPDATE SET events = v.events + excluded.events`,
);

// An event with a longer message travels alone.
const SHARED_CHARACTERS_MAX = 16 * 1024;

export interface NewEventRow {
  readonly accountId: string;
  readonly seq: bigint;
  readonly groupId: bigint;
  readonly level: string;
  readonly title: string;
  readonly message: string | null;
  readonly environment: string | null;
  readonly release: string | null;
  readonly userId: string | null;
  readonly occurredAtMs: number | null;
  readonly tags: string;
  readonly detail: DetailPosition;
  /** Separated by spaces. */
  readonly words: string;
}

export function sendNewEvents(tx: Queryable, accounts: Buffer, rows: readonly NewEventRow[]): void {
  const isLong = (row: NewEventRow) => (row.message?.length ?? 0) > SHARED_CHARACTERS_MAX;
  const short = rows.filter((row) => !isLong(row));
  if (short.length > 0) {
    void tx.query(insertEvents, [
      accounts,
      textArray(short.map((row) => row.accountId)),
      int8Array(short.map((row) => row.seq)),
      int8Array(short.map((row) => row.groupId)),
      textArray(short.map((row) => row.level)),
      textArray(short.map((row) => row.title)),
      textArray(short.map((row) => row.message)),
      textArray(short.map((row) => row.environment)),
      textArray(short.map((row) => row.release)),
      textArray(short.map((row) => row.userId)),
      timestampArray(short.map((row) => row.occurredAtMs)),
      textArray(short.map((row) => row.tags)),
      int8Array(short.map((row) => row.detail.seq)),
      int4Array(short.map((row) => row.detail.line)),
      textArray(short.map((row) => row.words)),
    ]);
  }
  for (const row of rows.filter(isLong)) {
    void tx.query(insertEvent, [
      row.accountId,
      row.seq,
      row.groupId,
      row.level,
      row.title,
      row.message,
      row.environment,
      row.release,
      row.userId,
      timestamp(row.occurredAtMs),
      row.tags,
      row.detail.seq,
      row.detail.line,
      row.words,
    ]);
  }
}

export interface GroupChange {
  readonly accountId: string;
  readonly fingerprint: string;
  /** As it is after the commit. */
  readonly state: GroupState;
  readonly events: number;
  readonly users: number;
  readonly tagNames: number;
  /** Null: they are rows. */
  readonly facets: string | null;
}

export function sendGroups(tx: Queryable, accounts: Buffer, changes: readonly GroupChange[]): void {
  void tx.query(upsertGroups, [
    accounts,
    textArray(changes.map((change) => change.accountId)),
    byteaArray(changes.map((change) => Buffer.from(change.fingerprint, 'hex'))),
    int8Array(changes.map(({ state }) => state.groupId)),
    textArray(changes.map(({ state }) => state.title)),
    textArray(changes.map(({ state }) => state.level)),
    int8Array(changes.map((change) => BigInt(change.events))),
    int8Array(changes.map((change) => BigInt(change.users))),
    int4Array(changes.map((change) => change.tagNames)),
    int8Array(changes.map(({ state }) => state.lastSeq)),
    textArray(changes.map(({ state }) => countsText(state.recent))),
    textArray(changes.map(({ state }) => countsText(state.hours))),
    textArray(changes.map(({ facets }) => facets)),
    timestampArray(changes.map(({ state }) => state.toldAtMs)),
    timestampArray(changes.map(({ state }) => state.anomalyAtMs)),
    textArray(changes.map(({ state }) => state.exceptionType)),
  ]);
}

export interface DayCount {
  readonly accountId: string;
  readonly groupId: bigint;
  readonly day: number;
  readonly environment: string;
  readonly level: string;
  events: number;
}

export function sendDays(tx: Queryable, accounts: Buffer, rows: readonly DayCount[]): void {
  void tx.query(upsertDays, [
    accounts,
    textArray(rows.map((row) => row.accountId)),
    int8Array(rows.map((row) => row.groupId)),
    int4Array(rows.map((row) => row.day)),
    textArray(rows.map((row) => row.environment)),
    textArray(rows.map((row) => row.level)),
    int8Array(rows.map((row) => BigInt(row.events))),
  ]);
}

export interface FacetChange {
  readonly accountId: string;
  readonly groupId: bigint;
  readonly facet: FacetCount;
}

export function sendFacets(tx: Queryable, accounts: Buffer, rows: readonly FacetChange[]): void {
  if (rows.length === 0) return;
  void tx.query(upsertFacets, [
    accounts,
    textArray(rows.map((row) => row.accountId)),
    int8Array(rows.map(({ groupId }) => groupId)),
    int2Array(rows.map(({ facet: [kind] }) => kind)),
    textArray(rows.map(({ facet: [, name] }) => name)),
    textArray(rows.map(({ facet: [, , value] }) => value)),
    int8Array(rows.map(({ facet: [, , , events] }) => BigInt(events))),
  ]);
}
