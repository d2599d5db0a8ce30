import Type from 'typebox';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import type { Offer } from '../../../../kit/offer.ts';
import { requireRoom } from '../../../../kit/resource.ts';
import type { CallContext } from '../../../../kit/services.ts';
import { invalidField } from '../../../../problems/problem.ts';
import { RULE_BYTES_MAX } from '../../limits.ts';
import { endingNotices } from '../../looks/end.ts';
import { tellNotices } from '../../notices/tell.ts';
import { type CheckedNotify, checkNotify, requireConfirmed, sealHidden } from '../../rules/notify.ts';
import { type ReadCondition, readCondition } from '../../rules/read-rule.ts';
import { ruleRecord } from '../../rules/record.ts';
import type { RuleRow } from '../../rules/row.ts';
import { rulesLimits, ruleTable, saveRule } from '../../rules/store.ts';
import {
  conditionFields,
  ruleField,
  ruleSchema,
  type SentNotify,
  type Severity,
  settingFields,
} from '../../schemas.ts';
import { silencesOf } from '../../silences/store.ts';
import type { AlertsState } from '../../state.ts';

/** What a call says of a rule beside its condition. */
export interface SentSettings {
  readonly title?: string | null;
  readonly details?: string | null;
  readonly severity?: Severity;
  readonly labels?: Readonly<Record<string, string>>;
  readonly runbook_url?: string | null;
  readonly notify?: readonly SentNotify[];
  readonly repeat_seconds?: number | null;
}

const LABEL = /^[A-Za-z_][A-Za-z0-9_.]{0,127}$/;

export const setRule = (offer: Pick<Offer, 'alertSources'>) =>
  defineCapability<AlertsState>()({
    method: 'PUT',
    path: '/v1/alerts/rule/set',
    summary: 'Sets an alert rule.',
    description:
      'Looks at metrics, logs, errors, spending, a queue, webhooks or schedules again and again, and tells people and programs when a value ' +
      'goes beyond a bound, and when it comes back. Replaces the whole rule. Looking is free; a notice to a queue costs a publish.',
    keywords: [
      'alert',
      'alerting rule',
      'monitor',
      'notify when',
      'page on call',
      'threshold',
      'prometheus alert',
      'watch for errors',
      'alarm',
    ],
    input: Type.Object({ rule: ruleField, ...conditionFields(offer.alertSources), ...settingFields }),
    output: ruleSchema,
    laterPrices: ['queue.publish'],
    bodyBytesMax: RULE_BYTES_MAX,
    opaque: ['labels', 'attributes'],
    errors: [
      'QUOTA_EXCEEDED',
      'WEBHOOK_URL_REJECTED',
      ...new Set(offer.alertSources.flatMap(({ errors = [] }) => errors)),
    ],
    limits: {
      rules: '50 / 500 / 5,000 by tier.',
      series: 'A rule has at most 100; more_series says how many more there are.',
      looks: 'Together at most a second of each minute; rules that take more are looked at less often, and say so.',
      mail: '100 mails an hour of an account.',
    },
    examples: [
      {
        title: 'Many errors in the log of a service',
        input: {
          rule: 'checkout-errors',
          title: '{{ $value }} errors in checkout',
          when: { logs: { service: 'checkout', level: 'error', window_seconds: 300 } },
          above: 10,
          severity: 'critical',
        },
        expect: { rule: 'checkout-errors', state: 'ok', version: 1, severity: 'critical' },
      },
      {
        title: 'An expression of PromQL, a series for each instance',
        input: { rule: 'down', when: { metrics: { query: 'up == 0' } }, for_seconds: 300, by: ['instance'] },
        expect: { when: { metrics: { query: 'up == 0' } }, by: ['instance'] },
      },
      {
        title: 'What a day costs',
        input: { rule: 'spend', when: { spend: { period: 'day' } }, above: 20, repeat_seconds: 3_600 },
        expect: { above: 20, every_seconds: 60 },
      },
    ],
    async run({ ctx, input }) {
      const { core, accountId } = ctx;
      const read = await readCondition(ctx, input);
      requireLabels(input.labels ?? {});
      const earlier = await ruleTable.find(core.db, ctx, input.rule);
      const notify = await checkNotify(ctx, input.notify ?? [], earlier);
      return runWrite(ctx, async (tx, { nowMs }) => {
        const before = await ruleTable.find(tx, ctx, input.rule);
        if (before === null) await requireRoom(tx, ctx, 'rule', rulesLimits.alert_rules);
        await requireConfirmed(tx, accountId, notify.targets);
        const row = rowOf(ctx, { rule: input.rule, read, settings: input, notify }, before, nowMs);
        if (before !== null && row.since_at !== before.since_at)
          await tellNotices(
            tx,
            { core, accountId, row: before, nowMs },
            endingNotices(before, 'The rule was changed.', nowMs),
          );
        return ruleRecord({ row: saveRule(tx, accountId, row, nowMs), silences: await silencesOf(tx, accountId) });
      });
    },
  });

export function requireLabels(labels: Readonly<Record<string, string>>): void {
  const wrong = Object.keys(labels).find((name) => !LABEL.test(name));
  if (wrong === undefined) return;
  const shown = wrong.slice(0, 64).replaceAll(/[^\w.-]/g, '?');
  throw invalidField(`labels.${shown}`, 'pattern', 'A label is letters, digits, _ and dots, and begins with no digit.');
}

export interface NewRule {
  readonly rule: string;
  readonly read: ReadCondition;
  readonly settings: SentSettings;
  readonly notify: CheckedNotify;
}

/** The row that takes the place of `before`. What it watches goes on if it is the same; else it begins anew. */
export function rowOf(
  { core, accountId, principal }: Pick<CallContext, 'core' | 'accountId' | 'principal'>,
  { rule, read, settings, notify }: NewRule,
  before: RuleRow | null,
  nowMs: number,
): RuleRow {
  const watched = {
    source: read.source.name,
    fields: JSON.stringify(read.fields),
    above: read.above,
    below: read.below,
    by_labels: JSON.stringify(read.by),
  };
  const isSame =
    before !== null &&
    Object.entries(watched).every(([name, value]) => (before as unknown as Record<string, unknown>)[name] === value);
  const standing = isSame
    ? before
    : {
        state: 'ok' as const,
        since_at: nowMs,
        value: null,
        series: '[]',
        more_series: 0,
        words: null,
        failures: 0,
        unknown_told: false,
        told_at: null,
        looked_at: null,
        took_ms: 0,
        spread: 1,
      };
  return {
    ...watched,
    rule,
    title: settings.title || null,
    details: settings.details || null,
    for_seconds: read.forSeconds,
    keep_firing_seconds: read.keepFiringSeconds,
    every_seconds: read.everySeconds,
    severity: settings.severity ?? 'warning',
    labels: JSON.stringify(settings.labels ?? {}),
    runbook_url: settings.runbook_url ?? null,
    notify: JSON.stringify(notify.targets),
    sealed: sealHidden(core.secrets, accountId, rule, notify.hidden),
    repeat_seconds: settings.repeat_seconds ?? null,
    key_id: principal.id,
    version: (before?.version ?? 0) + 1,
    state: standing.state,
    since_at: standing.since_at,
    value: standing.value,
    series: standing.series,
    more_series: standing.more_series,
    words: standing.words,
    failures: standing.failures,
    unknown_told: standing.unknown_told,
    told_at: standing.told_at,
    looked_at: standing.looked_at,
    took_ms: standing.took_ms,
    spread: standing.spread,
    due_at: nowMs,
    attempt: (before?.attempt ?? 0) + 1,
    created_at: before?.created_at ?? nowMs,
    updated_at: nowMs,
  };
}
