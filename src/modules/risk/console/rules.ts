// Rules as JSON: tried against the latest decisions before they are saved.
import { field, formKeyField, jsonTextOf, tokenField } from '../../../kit/console/form.ts';
import { actOf, type ConsolePage, type View } from '../../../kit/console/page.ts';
import { facts, figures, table } from '../../../kit/console/table.ts';
import { ago, count, countOf, short } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { rulesGet, rulesSet, rulesTry } from '../capabilities/rules.ts';
import { actionBadge, RULES, riskTabs } from './decisions.ts';

type Tried = DataOf<typeof rulesTry>;

const EDITOR_ROWS = 30;
const rulesOf = (form: URLSearchParams) => new JsonText(jsonTextOf(form, 'rules'));

export const rulesPage: ConsolePage = {
  name: 'risk_rules',
  path: RULES,
  needs: rulesGet,
  async show(visit) {
    const { thresholds, rules, is_default: isDefault, updated_at: changedAt } = await visit.need(rulesGet);
    const state = isDefault ? 'The default rules' : html`Changed ${ago(visit, changedAt)}`;
    const text = JSON.stringify({ thresholds, rules }, null, 2);
    return page(visit, 'Risk rules', html`<p class="quiet">${state}</p>${editor(visit, text)}`);
  },
  acts: {
    save: actOf({ capability: rulesSet, input: rulesOf, done: 'Rules saved. They count from the next call on.' }),
    try: actOf({ capability: rulesTry, input: rulesOf, done: 'Tried.', answerView: triedView }),
  },
};

function page(visit: Visit, title: string, below: Html): View {
  const content = html`<h1>Risk</h1>
${riskTabs(visit, RULES)}
<p>Each rule is <a href="https://jsonlogic.com">JsonLogic</a> over the signals. Where it matches, its points are added to the score.</p>
${below}`;
  return { title, content };
}

/** One form with two buttons: what is typed is tried, then saved. Of two acts the first one counts: that of the button, if one was pressed. */
function editor(visit: Visit, text: string): Html {
  const act = visit.refused?.act === 'try' ? 'try' : 'save';
  const asks = visit.may(rulesTry) ? html` <button name="act" value="try">Try on the latest decisions</button>` : '';
  const saves = visit.may(rulesSet) ? html`<button class="main" name="act" value="save">Save rules</button>` : '';
  return html`<form method="post" class="act">${tokenField(visit)}${formKeyField()}
${field(visit, act, { name: 'rules', label: 'Rules', value: text, rows: EDITOR_ROWS, isRequired: true, hint: 'JSON with thresholds and rules.' })}
${saves}${asks}<input type="hidden" name="act" value="${visit.may(rulesSet) ? 'save' : 'try'}"></form>`;
}

function triedView({ decisions, rules, ...of }: Tried, visit: Visit, form: URLSearchParams): View {
  const split = ({ allow, review, block }: Tried['before']) => `${allow} / ${review} / ${block}`;
  const changes = table({
    caption: 'Decisions that change',
    rows: of.examples,
    empty: html`<p>No decision changes.</p>`,
    columns: [
      { title: 'Decision', cell: ({ risk_id: id }) => html`<code>${short(id, 40)}</code>` },
      { title: 'Before', cell: ({ before }) => actionBadge(before) },
      { title: 'After', cell: ({ after }) => actionBadge(after) },
      { title: 'Score', kind: 'number', cell: ({ score }) => String(score) },
    ],
  });
  const below = html`<section class="panel"><h2>On the latest ${countOf(decisions, 'decision')}</h2>
${figures([
  ['Allow / review / block before', split(of.before)],
  ['With these rules', split(of.after)],
  ['Decisions that change', count(of.changed)],
])}
<h3>Matches</h3>${facts(rules.map(({ name, matched }) => [name, count(matched)]))}${changes}</section>
${editor(visit, form.get('rules') ?? '')}`;
  return page(visit, 'Risk rules, tried', below);
}
