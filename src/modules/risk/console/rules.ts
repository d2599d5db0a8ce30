// Rules as rows: tried against the latest decisions, or a call that somebody makes up, before they are saved. The whole set is JSON, too.
import { field, formKeyField, jsonOf, jsonTextOf, tokenField, typedIn } from '../../../kit/console/form.ts';
import { actOf, type ConsolePage, type View } from '../../../kit/console/page.ts';
import { enterButton, type RowFields, redrawRows, rowsOf } from '../../../kit/console/rows.ts';
import { facts, figures, table } from '../../../kit/console/table.ts';
import { ago, count, countOf, short } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { rulesGet, rulesSet, rulesTry } from '../capabilities/rules.ts';
import { actionBadge, RULES, riskTabs } from './decisions.ts';
import { GROUP, type Rules, rulesOfRows } from './rule-rows.ts';
import { rulesFields, triedRow } from './rules-form.ts';

type Tried = DataOf<typeof rulesTry>;

const EDITOR_ROWS = 30;
const SAVE = 'save';
const TRY = 'try';
const isJson = (form: URLSearchParams) => form.has('rules');
const rulesOf = (form: URLSearchParams) => (isJson(form) ? new JsonText(jsonTextOf(form, 'rules')) : rulesOfRows(form));
/** A call that somebody made up stands in for the latest decisions. */
const triedOf = (form: URLSearchParams, visit: Visit) =>
  isJson(form) ? rulesOf(form) : { ...rulesOfRows(form, triedRow(visit)), signals: jsonOf(form, 'signals') };

export const rulesPage: ConsolePage = {
  name: 'risk_rules',
  path: RULES,
  needs: rulesGet,
  async show(visit) {
    const { thresholds, rules, is_default: isDefault, updated_at: changedAt } = await visit.need(rulesGet);
    const state = isDefault ? 'The default rules' : html`Changed ${ago(visit, changedAt)}`;
    return page(visit, 'Risk rules', html`<p class="quiet">${state}</p>${editors(visit, { thresholds, rules })}`);
  },
  acts: {
    [SAVE]: actOf({
      capability: rulesSet,
      redraw: redrawRows,
      input: rulesOf,
      done: 'Rules saved. They count from the next call on.',
    }),
    [TRY]: actOf({ capability: rulesTry, redraw: redrawRows, input: triedOf, done: 'Tried.', answerView: triedView }),
  },
};

function page(visit: Visit, title: string, below: Html): View {
  const content = html`<h1>Risk</h1>
${riskTabs(visit, RULES)}
<p>Each rule asks the signals of a call. Where it matches, its points are added to the score.</p>
${below}`;
  return { title, content };
}

/** The act whose form was refused, or is being filled in. */
function actHere(visit: Visit): string {
  return typedIn(visit, TRY) === null ? SAVE : TRY;
}

/** Each has two buttons: what is typed is tried, then saved. Of two acts the first one counts: that of the button, if one was pressed. */
function editors(visit: Visit, stored: Rules, form: URLSearchParams | null = typedIn(visit, actHere(visit))): Html {
  const act = actHere(visit);
  const usual = visit.may(rulesSet) ? SAVE : TRY;
  const asks = visit.may(rulesTry) ? html` <button name="act" value="${TRY}">Try</button>` : '';
  const saves = visit.may(rulesSet) ? html`<button class="main" name="act" value="${SAVE}">Save rules</button>` : '';
  const editor = (content: Html) =>
    html`<form method="post" action="${visit.path(RULES)}" class="act">${tokenField(visit)}${formKeyField()}${content}<p>${saves}${asks}</p><input type="hidden" name="act" value="${usual}"></form>`;
  const rows = form === null || isJson(form) ? null : form;
  const text = (form !== null && isJson(form) ? form.get('rules') : null) ?? JSON.stringify(stored, null, 2);
  const signals = field(visit, act, {
    name: 'signals',
    label: 'Try on this call',
    value: rows?.get('signals') ?? '',
    rows: 2,
    hint: 'JSON of signals, such as {"event": "login", "ip": {"users_1h": 9}}. Empty: the latest decisions.',
  });
  const json = field(visit, act, {
    name: 'rules',
    label: 'Rules as JSON',
    value: text,
    rows: EDITOR_ROWS,
    isRequired: true,
    hint: 'JsonLogic over the signals, with thresholds.',
  });
  const tryButton = (n: number) =>
    visit.may(rulesTry)
      ? html`<button name="act" value="${TRY}" formaction="${visit.path(RULES)}?rule=${n}">Try this rule</button>`
      : html``;
  return html`${editor(html`${enterButton(usual)}${rulesFields(visit, act, stored, { typed: rows, tryButton })}${signals}`)}
<details id="json"${form !== null && isJson(form) ? html` open` : ''}><summary>Rules as JSON</summary>${editor(json)}</details>`;
}

function triedView(tried: Tried, visit: Visit, form: URLSearchParams): View {
  const place = isJson(form) ? null : triedRow(visit);
  const rule = place === null ? undefined : rowsOf(form, GROUP)[place];
  const all = () => (tried.verdict === null ? onDecisions(tried) : onCall(tried.verdict));
  const below = html`<section class="panel" aria-live="polite"><h2>Tried, nothing saved</h2>${rule === undefined ? all() : ofOne(tried, rule)}</section>
${editors(visit, { thresholds: { review: 1, block: 1 }, rules: [] }, form)}`;
  return page(visit, 'Risk rules, tried', below);
}

/** Of one rule that was tried alone: whether it matches, and what it adds. */
function ofOne({ verdict, decisions, rules }: Tried, { name = '', points = '' }: RowFields): Html {
  const rule = html`Rule <strong>${short(name.trim(), 80)}</strong>`;
  const adds = `adds ${points.trim()} points`;
  if (verdict === null) {
    if (decisions === 0) return html`<p>No decisions yet. Fill in “Try on this call” to try ${rule} on one.</p>`;
    const matched = rules.find((each) => each.name === name.trim())?.matched ?? 0;
    return html`<p>${rule} matches ${count(matched)} of the latest ${countOf(decisions, 'decision')}, and ${adds} to each.</p>`;
  }
  const [reason] = verdict.reasons;
  if (reason === undefined) return html`<p>${rule} does not match this call: it adds nothing.</p>`;
  return html`<p>${rule} matches this call and ${adds}. Alone it scores ${String(verdict.score)}: ${actionBadge(verdict.action)}</p>
<p class="quiet">${short(reason.detail, 200)}</p>`;
}

function onCall({ action, score, reasons }: NonNullable<Tried['verdict']>): Html {
  return html`<p>${actionBadge(action)} with a score of ${String(score)}.</p>${table({
    caption: 'Rules that match',
    rows: reasons,
    empty: html`<p>No rule matches.</p>`,
    columns: [
      { title: 'Rule', cell: ({ rule }) => rule },
      { title: 'Points', kind: 'number', cell: ({ points }) => String(points) },
      { title: 'Why', cell: ({ detail }) => short(detail, 200) },
    ],
  })}`;
}

function onDecisions({ decisions, rules, ...of }: Tried): Html {
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
  return html`<h3>On the latest ${countOf(decisions, 'decision')}</h3>
${figures([
  ['Allow / review / block before', split(of.before)],
  ['With these rules', split(of.after)],
  ['Decisions that change', count(of.changed)],
])}
<h3>Matches of each rule</h3>${facts(rules.map(({ name, matched }) => [name, count(matched)]))}${changes}`;
}
