// Silences: a rule, or labels, whose notices are not sent until a time. States go on as they would.
import { hash } from 'node:crypto';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { rowSaver } from '../../../kit/resource.ts';
import { SILENCES_MAX } from '../limits.ts';
import { keyOf } from '../looks/judge.ts';

export interface SilenceRow {
  readonly silence_id: string;
  readonly rule: string | null;
  readonly labels: string | null;
  readonly words: string | null;
  readonly key_id: string;
  readonly until_at: number;
  readonly created_at: number;
}

/** One that holds now. */
export interface Silence {
  readonly rule: string | null;
  readonly labels: Readonly<Record<string, string>> | null;
  readonly untilMs: number;
}

const columns = 'silence_id, rule, labels, words, key_id, until_at, created_at';
export const saveSilence = rowSaver<SilenceRow>({ table: 'alerts.silence', key: 'silence_id', columns });

const select = statement(
  'alerts_select_silences',
  `SELECT rule, labels, until_at FROM alerts.silence
    WHERE account_id = $1 AND until_at > core.clock_now() ORDER BY silence_id LIMIT ${SILENCES_MAX}`,
);
const remove = statement(
  'alerts_remove_silence',
  'DELETE FROM alerts.silence WHERE account_id = $1 AND silence_id = $2',
);
const countOthers = statement(
  'alerts_count_silences',
  `SELECT count(*)::int AS counted FROM alerts.silence
    WHERE account_id = $1 AND silence_id <> $2 AND until_at > core.clock_now()`,
);

/** The same for the same rule, or the same labels: a later silence takes the place of an earlier one. */
export function silenceId(rule: string | null, labels: Readonly<Record<string, string>> | null): string {
  return rule === null ? `labels:${hash('sha256', keyOf(labels ?? {}), 'base64url')}` : `rule:${rule}`;
}

export async function silencesOf(db: Queryable, accountId: string): Promise<readonly Silence[]> {
  const { rows } = await db.query<Pick<SilenceRow, 'rule' | 'labels' | 'until_at'>>(select, [accountId]);
  return rows.map(({ rule, labels, until_at: untilMs }) => ({
    rule,
    labels: labels === null ? null : JSON.parse(labels),
    untilMs,
  }));
}

export async function removeSilence(tx: Queryable, accountId: string, id: string): Promise<void> {
  await tx.query(remove, [accountId, id]);
}

export async function otherSilences(tx: Queryable, accountId: string, id: string): Promise<number> {
  return (await tx.query<{ counted: number }>(countOthers, [accountId, id])).rows[0]?.counted ?? 0;
}

/** Until when a series of the rule with these labels, those of the rule among them, tells nothing; null: it tells. */
export function silencedUntil(
  silences: readonly Silence[],
  rule: string,
  labels: Readonly<Record<string, string>>,
): number | null {
  const holding = silences.filter((silence) =>
    silence.labels === null
      ? silence.rule === rule
      : Object.entries(silence.labels).every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value),
  );
  return holding.length === 0 ? null : Math.max(...holding.map(({ untilMs }) => untilMs));
}
