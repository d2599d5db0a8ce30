// SQL of changes: what became of a rule, and when. The newest of each rule are kept.
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { newId } from '../../../lib/ids.ts';
import { iso } from '../../../lib/time.ts';
import { CHANGES_MAX, SERIES_MAX } from '../limits.ts';
import type { SeriesChange } from '../looks/judge.ts';
import type { State } from '../schemas.ts';

export interface NewChange {
  readonly rule: string;
  readonly atMs: number;
  /** Null: the state stayed what it is. */
  readonly before: State | null;
  readonly state: State | null;
  readonly value: number | null;
  readonly series: readonly SeriesChange[];
  readonly notices: number;
  readonly mails: number;
  readonly words: string | null;
}

export interface ChangeRow {
  readonly change_id: string;
  readonly at: number;
  readonly state_before: State;
  readonly state: State;
  readonly value: number | null;
  readonly series: string;
  readonly notices: number;
  readonly words: string | null;
}

// A change that is not one of the state has that of the rule.
const insert = statement(
  'alerts_add_change',
  `INSERT INTO alerts.change (account_id, change_id, rule, at, state_before, state, value, series, more_series, notices, mails, words, created_at)
   SELECT r.account_id, $2, $3, $4, coalesce($5, r.state), coalesce($6, r.state), $7, $8, $9, $10, $11, $12, $13
     FROM alerts.rule r WHERE r.account_id = $1 AND r.rule = $3`,
);
const removeOldest = statement(
  'alerts_remove_changes',
  `DELETE FROM alerts.change
    WHERE account_id = $1 AND rule = $2
      AND change_id < (SELECT c.change_id FROM alerts.change c WHERE c.account_id = $1 AND c.rule = $2
                        ORDER BY c.change_id DESC OFFSET ${CHANGES_MAX - 1} LIMIT 1)`,
);
const removeAll = statement('alerts_forget_changes', 'DELETE FROM alerts.change WHERE account_id = $1 AND rule = $2');
const select = statement(
  'alerts_select_changes',
  `SELECT change_id, at, state_before, state, value, series, notices, words FROM alerts.change
    WHERE account_id = $1 AND rule = $2 AND change_id < $3 ORDER BY change_id DESC LIMIT $4`,
);

/** Sends the row without waiting. */
export function addChange(tx: Transaction, accountId: string, change: NewChange, nowMs: number): void {
  const { rule, atMs, before, state, value, series, notices, mails, words } = change;
  const kept = series.slice(0, SERIES_MAX).map((each) => [each.labels, each.before, each.state, each.value]);
  void tx.query(insert, [
    ...[accountId, newId('alc_', nowMs), rule, timestamp(atMs), before, state, value, JSON.stringify(kept)],
    ...[Math.max(0, series.length - SERIES_MAX), notices, mails, words, timestamp(nowMs)],
  ]);
  void tx.query(removeOldest, [accountId, rule]);
}

export async function forgetChanges(tx: Queryable, accountId: string, rule: string): Promise<void> {
  await tx.query(removeAll, [accountId, rule]);
}

/** The newest first. */
export async function changesOf(
  db: Queryable,
  accountId: string,
  { rule, before, limit }: { readonly rule: string; readonly before: string; readonly limit: number },
): Promise<readonly ChangeRow[]> {
  return (await db.query<ChangeRow>(select, [accountId, rule, before, limit])).rows;
}

export function changeRecord({ at, state_before, state, value, series, notices, words }: ChangeRow) {
  const changed = JSON.parse(series) as [SeriesChange['labels'], State, State, number | null][];
  return {
    at: iso(at),
    state_before,
    state,
    value,
    series: changed.map(([labels, before, after, of]) => ({ labels, state_before: before, state: after, value: of })),
    notices,
    words,
  };
}
