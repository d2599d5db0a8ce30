import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { NAME_ANNOTATION } from '../files/rule-file.ts';
import { byOf, labelsOf, type RuleRow } from '../rules/row.ts';
import { ruleTable } from '../rules/store.ts';
import type { AlertsState } from '../state.ts';
import { ruleFirst } from './examples.ts';

const READ_AT_ONCE = 100;

export const exportRules = defineCapability<AlertsState>()({
  method: 'GET',
  path: '/v1/alerts/export',
  summary: 'Exports the alert rules of metrics as a rule file of Prometheus.',
  description:
    'promtool and alerts.import read it. Rules of other sources are named in `left_out`. Whom a rule tells is not in it.',
  keywords: ['export prometheus rules', 'back up alert rules'],
  input: Type.Object({}),
  output: Type.Object({
    file: Type.String({ description: 'The text of the file: YAML.' }),
    exported: Type.Integer({ description: 'Rules in it.' }),
    left_out: Type.Array(Type.String(), { description: 'Names of the rules that are not.' }),
  }),
  examples: [
    {
      title: 'A rule of logs cannot be exported',
      before: [ruleFirst],
      input: {},
      expect: { file: 'groups: []\n', exported: 0, left_out: ['checkout-errors'] },
    },
  ],
  async run({ ctx, state: { slices } }) {
    ctx.requireAnswerRoom();
    const groups = new Map<number, string[]>();
    const leftOut: string[] = [];
    let exported = 0;
    for (let after: string | null = null; ; ) {
      const rows: readonly RuleRow[] = await ruleTable.list(ctx.core.db, ctx, { after, limit: READ_AT_ONCE });
      await slices.next();
      for (const row of rows) {
        if (slices.isOver) await slices.next();
        if (row.source !== 'metrics') {
          leftOut.push(row.rule);
          continue;
        }
        const text = ruleText(row);
        ctx.holdAnswer(text.length);
        groups.set(row.every_seconds, [...(groups.get(row.every_seconds) ?? []), text]);
        exported += 1;
      }
      if (rows.length < READ_AT_ONCE) break;
      after = rows.at(-1)?.rule ?? null;
    }
    const texts = [...groups]
      .sort(([a], [b]) => a - b)
      .map(([seconds, rules]) => `- name: every-${seconds}s\n  interval: ${seconds}s\n  rules:\n${rules.join('')}`);
    const file = texts.length === 0 ? 'groups: []\n' : `groups:\n${texts.join('')}`;
    return { data: { file, exported, left_out: leftOut } };
  },
});

/** Texts are written as JSON, which YAML reads as they are. */
function ruleText(row: RuleRow): string {
  const of = (name: string, text: string | null) => (text === null ? [] : [[name, JSON.stringify(text)] as const]);
  const seconds = (name: string, count: number) => (count === 0 ? [] : [[name, `${count}s`] as const]);
  const block = (name: string, members: readonly (readonly [string, string])[]) =>
    `    ${name}:\n${members.map(([key, value]) => `      ${key}: ${value}\n`).join('')}`;
  const fields = [
    ['expr', JSON.stringify(expressionOf(row))] as const,
    ...seconds('for', row.for_seconds),
    ...seconds('keep_firing_for', row.keep_firing_seconds),
  ];
  const labels = Object.entries(labelsOf(row)).filter(([name]) => name !== 'severity' && /^\w+$/.test(name));
  return [
    `  - alert: ${JSON.stringify(row.rule)}\n`,
    ...fields.map(([name, value]) => `    ${name}: ${value}\n`),
    block('labels', [...of('severity', row.severity), ...labels.flatMap(([name, value]) => of(name, value))]),
    block('annotations', [
      ...of(NAME_ANNOTATION, row.rule),
      ...of('summary', row.title),
      ...of('description', row.details),
      ...of('runbook_url', row.runbook_url),
    ]),
  ].join('');
}

/** The bound and the labels of the rule are part of the expression there. */
function expressionOf(row: RuleRow): string {
  const { query } = JSON.parse(row.fields) as { query: string };
  const by = byOf(row);
  const worst = row.below === null ? 'max' : 'min';
  // On a line of its own, since the expression may end in a comment.
  const grouped = by.length === 0 ? query : `${worst} by (${by.join(', ')}) (\n${query}\n)`;
  if (row.above !== null) return `(\n${grouped}\n) > ${row.above}`;
  return row.below === null ? grouped : `(\n${grouped}\n) < ${row.below}`;
}
