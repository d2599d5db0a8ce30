// Rules, and alerts, as answers show them.
import { iso, isoOrNull } from '../../../lib/time.ts';
import { type Silence, silencedUntil } from '../silences/store.ts';
import { byOf, labelsOf, notifyOf, type RuleRow, seriesOf } from './row.ts';

/** A row, with the silences of its account. */
export interface ShownRule {
  readonly row: RuleRow;
  readonly silences: readonly Silence[];
}

export function ruleRecord({ row, silences }: ShownRule) {
  return {
    rule: row.rule,
    title: row.title,
    details: row.details,
    when: { [row.source]: JSON.parse(row.fields) },
    above: row.above,
    below: row.below,
    for_seconds: row.for_seconds,
    keep_firing_seconds: row.keep_firing_seconds,
    every_seconds: row.every_seconds,
    by: byOf(row),
    severity: row.severity,
    labels: labelsOf(row),
    runbook_url: row.runbook_url,
    notify: notifyOf(row).map(({ kind, to }) => ({ [kind === 'slack' ? 'slack_url' : kind]: to })),
    repeat_seconds: row.repeat_seconds,
    ...standing({ row, silences }),
    looked_at: isoOrNull(row.looked_at),
    took_ms: row.took_ms,
    version: row.version,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

export function alertRecord({ row, silences }: ShownRule) {
  return {
    rule: row.rule,
    title: row.title,
    severity: row.severity,
    labels: labelsOf(row),
    runbook_url: row.runbook_url,
    ...standing({ row, silences }),
  };
}

function standing({ row, silences }: ShownRule) {
  return {
    state: row.state,
    since: iso(row.since_at),
    value: row.value,
    series: seriesOf(row).map(({ labels, state, sinceMs, value }) => ({ labels, state, since: iso(sinceMs), value })),
    more_series: row.more_series,
    words: row.words,
    silenced_until: isoOrNull(silencedUntil(silences, row.rule, labelsOf(row))),
  };
}
