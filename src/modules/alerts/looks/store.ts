// SQL of looks. A claim is a lease in the rule's row and counts an attempt. What a look found is written only while the attempt and the version
// of the rule are those that it began with: so a step is looked at once, and a rule that was changed meanwhile is looked at anew.
import type { Claimed, LeasedJob, Wanted } from '../../../core/background/due-work.ts';
import { float8Array, int4Array, textArray, timestampArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { LOOK_LEASE_MS } from '../limits.ts';
import { type RuleRow, ruleColumns } from '../rules/row.ts';
import type { State } from '../schemas.ts';

export interface ClaimedLook extends LeasedJob {
  readonly row: RuleRow;
  /** When it was claimed, by the database's clock. */
  readonly claimedMs: number;
}

const claimed = ruleColumns
  .split(', ')
  .map((name) => `t.${name}`)
  .join(', ');
const claim = statement(
  'alerts_claim',
  `WITH c AS MATERIALIZED (
     SELECT r.rule, core.clock_now() AS now, core.clock_now() + ${LOOK_LEASE_MS} * interval '1 millisecond' AS lease_end
       FROM alerts.rule r
      WHERE r.account_id = $1 AND r.due_at <= core.clock_now() AND r.rule <> ALL($3::text[])
      ORDER BY r.due_at, r.rule LIMIT $2 FOR UPDATE SKIP LOCKED)
   UPDATE alerts.rule t SET due_at = c.lease_end, attempt = t.attempt + 1
     FROM c WHERE t.account_id = $1 AND t.rule = c.rule
   RETURNING ${claimed}, c.now AS claimed_at`,
);
const nextDue = statement(
  'alerts_next_due',
  `SELECT r.due_at FROM alerts.rule r WHERE r.account_id = $1 AND r.due_at IS NOT NULL ORDER BY r.due_at LIMIT 1`,
);
const renew = statement(
  'alerts_renew',
  `WITH c AS MATERIALIZED (SELECT core.clock_now() + ${LOOK_LEASE_MS} * interval '1 millisecond' AS lease_end)
   UPDATE alerts.rule t SET due_at = c.lease_end FROM c WHERE t.account_id = $1 AND t.rule = $2 AND t.attempt = $3`,
);
const setDue = statement(
  'alerts_set_due',
  'UPDATE alerts.rule SET due_at = $4 WHERE account_id = $1 AND rule = $2 AND attempt = $3',
);
const saveQuiet = statement(
  'alerts_save_quiet',
  `UPDATE alerts.rule AS r
      SET looked_at = u.looked_at, value = u.value, series = u.series, more_series = u.more_series, words = u.words,
          failures = u.failures, took_ms = u.took_ms, spread = u.spread, due_at = u.due_at
     FROM unnest($2::text[], $3::int[], $4::int[], $5::timestamptz[], $6::float8[], $7::text[], $8::int[], $9::text[], $10::int[],
                 $11::float8[], $12::int[], $13::timestamptz[])
          u(rule, attempt, version, looked_at, value, series, more_series, words, failures, took_ms, spread, due_at)
    WHERE r.account_id = $1 AND r.rule = u.rule AND r.attempt = u.attempt AND r.version = u.version`,
);
const saveChanged = statement(
  'alerts_save_changed',
  `UPDATE alerts.rule
      SET looked_at = $5, value = $6, series = $7, more_series = $8, words = $9, failures = $10, took_ms = $11, spread = $12, due_at = $13,
          state = $14, since_at = $15, unknown_told = $16, told_at = $17
    WHERE account_id = $1 AND rule = $2 AND attempt = $3 AND version = $4 AND looked_at IS DISTINCT FROM $5`,
);
const load = statement(
  'alerts_load',
  `SELECT count(*)::int AS rules, coalesce(sum(r.took_ms * 60 / r.every_seconds), 0) AS load FROM alerts.rule r WHERE r.account_id = $1`,
);
const shares = statement(
  'alerts_shares',
  `SELECT coalesce(sum(r.took_ms * 60 / r.every_seconds) FILTER (WHERE r.took_ms * 60 / r.every_seconds < $2), 0) AS within,
          coalesce(sum(r.took_ms * 60 / r.every_seconds) FILTER (WHERE r.took_ms * 60 / r.every_seconds >= $2), 0) AS beyond
     FROM alerts.rule r WHERE r.account_id = $1`,
);

interface Claimable extends RuleRow {
  readonly claimed_at: number;
}

export async function claimLooks(
  tx: Transaction,
  accountId: string,
  { limit, underWay }: Wanted,
): Promise<Claimed<ClaimedLook>> {
  const [{ rows }, left] = await Promise.all([
    tx.query<Claimable>(claim, [accountId, limit, textArray(underWay)]),
    tx.query<{ due_at: number }>(nextDue, [accountId]),
  ]);
  const jobs = rows.map(({ claimed_at: claimedMs, ...row }) => ({
    accountId,
    id: row.rule,
    attempt: row.attempt,
    row,
    claimedMs,
  }));
  return { jobs, nextMs: left.rows[0]?.due_at ?? null };
}

/** False: another attempt has it, or it is gone. */
export async function renewLook(db: Queryable, { accountId, id, attempt }: LeasedJob): Promise<boolean> {
  return (await db.query(renew, [accountId, id, attempt])).count === 1;
}

export async function setLookDue(tx: Queryable, { accountId, id, attempt }: LeasedJob, dueMs: number): Promise<void> {
  await tx.query(setDue, [accountId, id, attempt, timestamp(dueMs)]);
}

/** What every look leaves in its rule. */
export interface LookEnd extends LeasedJob {
  readonly version: number;
  readonly lookedMs: number | null;
  readonly value: number | null;
  readonly series: string;
  readonly more: number;
  readonly words: string | null;
  readonly failures: number;
  readonly tookMs: number;
  readonly spread: number;
  readonly dueMs: number;
}

/** Of one account. Rules that another attempt has, or that were changed, stay as they are. */
export async function saveQuietLooks(tx: Queryable, accountId: string, ends: readonly LookEnd[]): Promise<void> {
  await tx.query(saveQuiet, [
    accountId,
    textArray(ends.map(({ id }) => id)),
    int4Array(ends.map(({ attempt }) => attempt)),
    int4Array(ends.map(({ version }) => version)),
    timestampArray(ends.map(({ lookedMs }) => lookedMs)),
    float8Array(ends.map(({ value }) => value)),
    textArray(ends.map(({ series }) => series)),
    int4Array(ends.map(({ more }) => more)),
    textArray(ends.map(({ words }) => words)),
    int4Array(ends.map(({ failures }) => failures)),
    float8Array(ends.map(({ tookMs }) => tookMs)),
    int4Array(ends.map(({ spread }) => spread)),
    timestampArray(ends.map(({ dueMs }) => dueMs)),
  ]);
}

export interface ChangedEnd extends LookEnd {
  readonly state: State;
  readonly sinceMs: number;
  readonly unknownTold: boolean;
  readonly toldMs: number | null;
}

/** False: another attempt has the rule, it was changed since the look began, or an earlier try wrote it. */
export async function saveChangedLook(tx: Queryable, end: ChangedEnd): Promise<boolean> {
  const { count } = await tx.query(saveChanged, [
    ...[end.accountId, end.id, end.attempt, end.version, timestamp(end.lookedMs), end.value, end.series, end.more],
    ...[end.words, end.failures, end.tookMs, end.spread, timestamp(end.dueMs)],
    ...[end.state, timestamp(end.sinceMs), end.unknownTold, timestamp(end.toldMs)],
  ]);
  return count === 1;
}

/** Rules of an account, and how long the looks of a minute take, were each made at its step. */
export async function loadOf(
  db: Queryable,
  accountId: string,
): Promise<{ readonly rules: number; readonly load: number }> {
  return (await db.query<{ rules: number; load: number }>(load, [accountId])).rows[0] ?? { rules: 0, load: 0 };
}

/** How long the looks of a minute take: of rules that take less than `fair` of it, and of the others. */
export async function sharesOf(
  db: Queryable,
  accountId: string,
  fair: number,
): Promise<{ readonly within: number; readonly beyond: number }> {
  const { rows } = await db.query<{ within: number; beyond: number }>(shares, [accountId, fair]);
  return rows[0] ?? { within: 0, beyond: 0 };
}
