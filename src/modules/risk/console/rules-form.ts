// The form of an account's rules: thresholds, and a row for each rule with rows for its conditions.
import { choice, field } from '../../../kit/console/form.ts';
import { addRow, isFresh, type RowFields, rowButtons, rowsOf } from '../../../kit/console/rows.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { score } from '../capabilities/score.ts';
import { fieldsOfRule, GROUP, operators, type Rules, WHEN } from './rule-rows.ts';

const RULES_MAX = 50;
const SUMMARY_CHARACTERS = 160;
const plain = html`spellcheck="false" autocapitalize="off" autocomplete="off"`;
const numeric = html`inputmode="numeric"`;
const signalList = 'signals';
const signals = signalNames();

interface Form {
  readonly visit: Visit;
  /** Whose faults and typed values the fields show. */
  readonly act: string;
  readonly tryButton: (n: number) => Html;
}

/** `typed`: the form as somebody filled it in; null: the rules as they are stored. `tryButton`: of the rule in this place. */
export function rulesFields(
  visit: Visit,
  act: string,
  { thresholds, rules }: Rules,
  { typed, tryButton }: { readonly typed: URLSearchParams | null; readonly tryButton: (n: number) => Html },
): Html {
  const form = { visit, act, tryButton };
  const rows = typed === null ? rules.map(fieldsOfRule) : rowsOf(typed, GROUP);
  const threshold = (name: 'review' | 'block', label: string) =>
    field(visit, act, {
      name,
      label,
      value: typed?.get(name) ?? String(thresholds[name]),
      isRequired: true,
      attributes: numeric,
      hint: '1 to 101; 101: never.',
    });
  return html`<datalist id="${signalList}">${signals.map((name) => html`<option value="${name}">`)}</datalist>
<div class="pair">${threshold('review', 'Review from this score on')}${threshold('block', 'Block from this score on')}</div>
<div id="${GROUP}" class="lines">${rows.map((row, n) => ruleFieldset(form, row, n))}</div>
${rows.length < RULES_MAX ? html`<p>${addRow(GROUP, 'Add a rule')}</p>` : ''}`;
}

function ruleFieldset({ visit, act, tryButton }: Form, row: RowFields, n: number): Html {
  const prefix = `${GROUP}-${n}`;
  const { name = '', points = '', description = '', all = 'all' } = row;
  const sent = rowsOf(new URLSearchParams(row), WHEN);
  const conditions = sent.length === 0 ? [{}] : sent;
  const focus = isFresh(row) ? html` autofocus` : '';
  const joined = choice(visit, act, {
    name: `${prefix}-all`,
    label: 'Matches where',
    value: all,
    options: [
      ['all', 'all conditions hold'],
      ['any', 'any condition holds'],
    ],
  });
  const isOpen = isFresh(row) || conditions.some(isFresh) || isFaulty(visit, n) || triedRow(visit) === n;
  return html`<details class="line" id="${prefix}"${isOpen ? html` open` : ''}><summary><strong>${name === '' ? 'New rule' : name}</strong> ${pointsText(points)} <span class="quiet">${conditionsText(all, conditions)}</span></summary>
<div class="fields">${rowButtons(GROUP, n, name)}
${field(visit, act, { name: `${prefix}-name`, label: 'Name', value: name, attributes: html`${plain}${focus}` })}
${field(visit, act, { name: `${prefix}-points`, label: 'Points', value: points, attributes: numeric })}
${field(visit, act, { name: `${prefix}-description`, label: 'Description', value: description })}
<div id="${prefix}-${WHEN}" class="conditions">${conditions.length > 1 ? joined : html`<input type="hidden" name="${prefix}-all" value="${all}">`}${conditions.map((each, i) => conditionFields({ visit, act }, `${prefix}-${WHEN}`, each, i))}
<p>${addRow(`${prefix}-${WHEN}`, 'Add a condition')} ${tryButton(n)}</p></div></div></details>`;
}

/** The place of the one rule that is tried, by the address; null: all are. */
export function triedRow({ query }: Visit): number | null {
  const place = query.get('rule');
  return place !== null && /^\d{1,2}$/.test(place) ? Number(place) : null;
}

/** The form was refused for something of the rule. */
function isFaulty({ refused }: Visit, n: number): boolean {
  const params = [refused?.problem.param, ...(refused?.problem.errors ?? []).map(({ param }) => param)];
  return params.some((param) => new RegExp(`^(rules[.[]${n}\\b|${GROUP}-${n}-)`).test(param ?? ''));
}

/** `+40` */
function pointsText(points: string): string {
  return /^\d/.test(points) ? `+${points}` : points;
}

/** `ip.users_1h is above 5 and event is login` */
function conditionsText(all: string, conditions: readonly RowFields[]): string {
  const texts = conditions.flatMap(({ signal = '', operator = '>', value = '' }) =>
    signal === '' && value === '' ? [] : [[signal, operators[operator]?.label ?? operator, value].join(' ').trim()],
  );
  return texts
    .join(all === 'any' ? ' or ' : ' and ')
    .slice(0, SUMMARY_CHARACTERS)
    .toWellFormed();
}

function conditionFields({ visit, act }: Pick<Form, 'visit' | 'act'>, group: string, row: RowFields, i: number): Html {
  const { signal = '', operator = '>', value = '' } = row;
  const options = Object.entries(operators).map(([name, { label }]) => [name, label] as const);
  const focus = isFresh(row) ? html` autofocus` : '';
  const out = i === 0 ? '' : rowButtons(group, i, `condition ${i + 1}`, false);
  return html`<div class="condition">${field(visit, act, { name: `${group}-${i}-signal`, label: 'Signal', value: signal, attributes: html`${plain} list="${signalList}" placeholder="ip.users_1h"${focus}` })}
${choice(visit, act, { name: `${group}-${i}-operator`, label: 'Condition', value: operator, options })}
${field(visit, act, { name: `${group}-${i}-value`, label: 'Value', value, attributes: plain })}${out}</div>`;
}

/** As the answer of risk.score has them: `ip.users_1h`. */
function signalNames(): readonly string[] {
  const signals: Readonly<Record<string, unknown>> = score.output.properties.signals.properties;
  return Object.entries(signals).flatMap(([name, signal]) => {
    const members = (signal as Signal).anyOf?.[0]?.properties;
    return members === undefined ? [name] : Object.keys(members).map((member) => `${name}.${member}`);
  });
}

interface Signal {
  readonly anyOf?: readonly { readonly properties?: object }[];
}
