import Type, { type Static } from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { textOrNull, whole } from '../../../kit/fields.ts';
import { requireRoom } from '../../../kit/resource.ts';
import type { CallContext } from '../../../kit/services.ts';
import { invalidField, Problem } from '../../../problems/problem.ts';
import { type FileRule, type LeftOut, readRuleFile } from '../files/rule-file.ts';
import { FILE_BYTES_MAX, FILE_HERE_BYTES_MAX, IMPORT_RULES_MAX } from '../limits.ts';
import { endingNotices } from '../looks/end.ts';
import { tellNotices } from '../notices/tell.ts';
import { type CheckedNotify, checkNotify, openHidden, requireConfirmed } from '../rules/notify.ts';
import { type ReadCondition, readCondition } from '../rules/read-rule.ts';
import { notifyOf, type RuleRow } from '../rules/row.ts';
import { rulesLimits, rulesNamed, saveRule } from '../rules/store.ts';
import { notifyField } from '../schemas.ts';
import type { AlertsState } from '../state.ts';
import { rowOf } from './rule/set.ts';

const input = Type.Object({
  file: Type.String({
    minLength: 1,
    maxLength: FILE_BYTES_MAX,
    description: 'The text of a rule file of Prometheus, or a PrometheusRule of Kubernetes: YAML or JSON.',
  }),
  notify: Type.Optional({
    ...notifyField,
    description: 'Whom each rule of the file tells. Not sent: rules that are there keep theirs, new ones tell nobody.',
  }),
});

const group = Type.String({ description: 'Its group in the file.' });
const alert = Type.String({ description: 'Its name in the file.' });

interface Read {
  readonly rule: FileRule;
  readonly condition: ReadCondition;
}

export const importRules = defineCapability<AlertsState>()({
  method: 'POST',
  path: '/v1/alerts/import',
  summary: 'Imports alert rules of a rule file of Prometheus.',
  description:
    'Each alert becomes a rule of metrics, named by its group and alert; the same file again changes nothing. The summary is its title, the ' +
    'description its details. What a rule cannot say is named in `left_out`; if there is no rule to import, the call fails.',
  keywords: ['import prometheus rules', 'alerting rules file', 'kube-prometheus', 'prometheusrule', 'move alerts'],
  input,
  output: Type.Object({
    imported: whole('Rules that were set.'),
    unchanged: whole('Rules that were as the file has them.'),
    rules: Type.Array(Type.Object({ rule: Type.String({ description: 'Name of the rule.' }), group, alert }), {
      description: 'The rules of the file.',
    }),
    left_out: Type.Array(
      Type.Object({
        group,
        alert,
        part: textOrNull('What of it; null: the whole rule.'),
        reason: Type.String({ description: 'Why.' }),
      }),
      { description: 'What is not there now.' },
    ),
  }),
  bodyBytesMax: FILE_BYTES_MAX + 64 * 1024,
  bulk: {
    source: import.meta.url,
    hereBytesMax: FILE_HERE_BYTES_MAX,
    reduce: ({ file, notify }: Static<typeof input>) => ({ value: { ...readRuleFile(file), notify }, transfer: [] }),
  },
  laterPrices: ['queue.publish'],
  errors: ['QUOTA_EXCEEDED', 'WEBHOOK_URL_REJECTED'],
  limits: { rules: `${IMPORT_RULES_MAX} in a file of 1 MiB; an account has those of its tier.` },
  examples: [
    {
      title: 'A file with an alert and a recording rule',
      input: {
        file: 'groups:\n- name: web\n  rules:\n  - alert: Down\n    expr: up == 0\n    for: 5m\n  - record: job:up:sum\n    expr: sum by (job) (up)\n',
      },
      expect: {
        imported: 1,
        rules: [{ rule: 'web.Down', group: 'web', alert: 'Down' }],
        left_out: [{ alert: 'job:up:sum', part: null }],
      },
    },
  ],
  async run({ ctx, input: sent }) {
    // What `bulk` made of the input.
    const { rules, leftOut, notify } = sent as unknown as ReturnType<typeof readRuleFile> & Static<typeof input>;
    const { read, refused } = await readConditions(ctx, rules);
    const left = [...leftOut, ...refused];
    if (read.length === 0) throw nothingToImport(left);
    const checked = notify === undefined ? null : await checkNotify(ctx, notify, null);
    return runWrite(ctx, async (tx, { nowMs }) => {
      const { core, accountId } = ctx;
      const before = await rulesNamed(
        tx,
        accountId,
        read.map(({ rule }) => rule.rule),
      );
      const added = read.length - before.size;
      if (added > 0) await requireRoom(tx, ctx, 'rule', rulesLimits.alert_rules, added);
      if (checked !== null) await requireConfirmed(tx, accountId, checked.targets);
      let imported = 0;
      for (const { rule, condition } of read) {
        const earlier = before.get(rule.rule) ?? null;
        const tells = checked ?? keptNotify(ctx, earlier);
        const repeat = earlier?.repeat_seconds ?? null;
        const settings = { ...rule, repeat_seconds: repeat };
        const row = rowOf(ctx, { rule: rule.rule, read: condition, settings, notify: tells }, earlier, nowMs);
        if (earlier !== null && isAsBefore(row, earlier, checked === null)) continue;
        imported += 1;
        if (earlier !== null && row.since_at !== earlier.since_at)
          await tellNotices(
            tx,
            { core, accountId, row: earlier, nowMs },
            endingNotices(earlier, 'The rule was changed.', nowMs),
          );
        saveRule(tx, accountId, row, nowMs);
      }
      return {
        imported,
        unchanged: read.length - imported,
        rules: read.map(({ rule: { rule, group: of, alert: named } }) => ({ rule, group: of, alert: named })),
        left_out: left.map(({ group: of, alert: named, part, reason }) => ({
          group: of,
          alert: named,
          part,
          reason,
        })),
      };
    });
  },
});

/** Rules whose expression is not taken are left out. */
async function readConditions(ctx: CallContext, rules: readonly FileRule[]) {
  const read: Read[] = [];
  const refused: LeftOut[] = [];
  for (const rule of rules) {
    const { group: of, alert: named, query, for_seconds, keep_firing_seconds, every_seconds } = rule;
    try {
      const when = { metrics: { query } };
      read.push({
        rule,
        condition: await readCondition(ctx, { when, for_seconds, keep_firing_seconds, every_seconds }),
      });
    } catch (error) {
      if (!(error instanceof Problem) || error.retryable || error.code === 'INSUFFICIENT_SCOPE') throw error;
      refused.push({ group: of, alert: named, part: null, reason: `expr: ${error.message}` });
    }
  }
  return { read, refused };
}

function nothingToImport([first]: readonly LeftOut[]): Problem {
  const why = first === undefined ? 'It has no rules.' : `${first.group}, ${first.alert}: ${first.reason}`;
  return invalidField('file', 'empty', `The file has no rule to import. ${why}`);
}

function keptNotify({ core, accountId }: CallContext, before: RuleRow | null): CheckedNotify {
  if (before === null) return { targets: [], hidden: [] };
  return { targets: notifyOf(before), hidden: openHidden(core.secrets, accountId, before) };
}

const COMPARED = [
  'source',
  'fields',
  'above',
  'below',
  'by_labels',
  'title',
  'details',
  'for_seconds',
  'keep_firing_seconds',
  'every_seconds',
  'severity',
  'labels',
  'runbook_url',
] as const satisfies readonly (keyof RuleRow)[];

/** An address that is sealed may be another one although it reads alike: what is sent is set. */
function isAsBefore(row: RuleRow, before: RuleRow, keepsNotify: boolean): boolean {
  const isSame = COMPARED.every((name) => row[name] === before[name]);
  return isSame && (keepsNotify || (row.notify === before.notify && row.sealed === null && before.sealed === null));
}
