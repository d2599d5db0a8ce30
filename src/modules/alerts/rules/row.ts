// A rule as it is stored, and what its texts hold.
import type { Severity, State } from '../schemas.ts';

/** A series that is ok, pending or firing, in short names: a rule keeps up to 100 of them. */
export interface SeriesState {
  readonly labels: Readonly<Record<string, string>>;
  readonly state: Exclude<State, 'unknown'>;
  readonly sinceMs: number;
  /** Null: not a finite number. */
  readonly value: number | null;
  /** Somebody was told that it fires. */
  readonly told: boolean;
  /** It fires on, and has not held since then. */
  readonly clearSinceMs?: number;
}

/** Whom a rule tells. `to` of slack is masked. */
export interface NotifyTarget {
  readonly kind: 'email' | 'url' | 'queue' | 'slack';
  readonly to: string;
}

export interface RuleRow {
  readonly rule: string;
  readonly title: string | null;
  readonly details: string | null;
  readonly source: string;
  readonly fields: string;
  readonly above: number | null;
  readonly below: number | null;
  readonly for_seconds: number;
  readonly keep_firing_seconds: number;
  readonly every_seconds: number;
  readonly by_labels: string;
  readonly severity: Severity;
  readonly labels: string;
  readonly runbook_url: string | null;
  readonly notify: string;
  readonly sealed: Buffer | null;
  readonly repeat_seconds: number | null;
  readonly key_id: string;
  readonly version: number;
  readonly state: State;
  readonly since_at: number;
  readonly value: number | null;
  readonly series: string;
  readonly more_series: number;
  readonly words: string | null;
  readonly failures: number;
  readonly unknown_told: boolean;
  readonly told_at: number | null;
  readonly looked_at: number | null;
  readonly took_ms: number;
  readonly spread: number;
  readonly due_at: number | null;
  readonly attempt: number;
  readonly created_at: number;
  readonly updated_at: number;
}

export const ruleColumns =
  'rule, title, details, source, fields, above, below, for_seconds, keep_firing_seconds, every_seconds, by_labels, severity, labels, runbook_url, notify, sealed, ' +
  'repeat_seconds, key_id, version, state, since_at, value, series, more_series, words, failures, unknown_told, told_at, looked_at, ' +
  'took_ms, spread, due_at, attempt, created_at, updated_at';

type StoredSeries = [
  labels: SeriesState['labels'],
  state: SeriesState['state'],
  sinceMs: number,
  value: number | null,
  told: 0 | 1,
  clearSinceMs?: number,
];

export function seriesOf({ series }: Pick<RuleRow, 'series'>): SeriesState[] {
  return (JSON.parse(series) as StoredSeries[]).map(([labels, state, sinceMs, value, told, clearSinceMs]) => ({
    labels,
    state,
    sinceMs,
    value,
    told: told === 1,
    ...(clearSinceMs === undefined ? {} : { clearSinceMs }),
  }));
}

export function seriesText(series: readonly SeriesState[]): string {
  return JSON.stringify(
    series.map(({ labels, state, sinceMs, value, told, clearSinceMs }): StoredSeries => {
      const stored = [labels, state, sinceMs, value, told ? 1 : 0] as const;
      return clearSinceMs === undefined ? [...stored] : [...stored, clearSinceMs];
    }),
  );
}

export const byOf = ({ by_labels: by }: Pick<RuleRow, 'by_labels'>) => JSON.parse(by) as string[];
export const labelsOf = ({ labels }: Pick<RuleRow, 'labels'>) => JSON.parse(labels) as Record<string, string>;
export const notifyOf = ({ notify }: Pick<RuleRow, 'notify'>) => JSON.parse(notify) as NotifyTarget[];
