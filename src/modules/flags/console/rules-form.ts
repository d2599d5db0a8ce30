// Targeting as a form: a row for each condition, with a variant or shares for whom it holds, and what everybody else gets.
import { choice, field, typedIn } from '../../../kit/console/form.ts';
import { addRow, enterButton, isFresh, type RowFields, rowButtons, rowsOf } from '../../../kit/console/rows.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { invalidField } from '../../../problems/problem.ts';
import {
  JSON_OPERATOR,
  type Outcome,
  operators,
  ROWS_MAX,
  type Row,
  type Shares,
  type SimpleRules,
  wholeShares,
} from './simple-rules.ts';

/** The act. */
export const RULES = 'rules';
const GROUP = 'rule';
const REST = 'rest';
const DEFAULT = 'default';
const SHARES = 'shares';
/** Of a flag with more variants, shares are shown where they are chosen. */
const SHARED_AT_ONCE = 8;
const attributes = ['targetingKey', 'email', 'country', 'plan', 'version', '$flagd.timestamp'];
const plain = html`spellcheck="false" autocapitalize="off" autocomplete="off"`;

interface Flag {
  readonly variants: Readonly<Record<string, unknown>>;
  readonly default_variant: string | null;
}

/** Fields and buttons of the form. */
export function rulesForm(visit: Visit, flag: Flag, { rows, rest }: SimpleRules): Html {
  const typed = typedIn(visit, RULES);
  const names = Object.keys(flag.variants);
  const shown = typed === null ? rows.map((row) => fieldsOf(row, names)) : rowsOf(typed, GROUP);
  const [restFields = {}] = typed === null ? [outcomeFields(rest, names)] : rowsOf(typed, REST);
  const add = shown.length < ROWS_MAX ? html`<p>${addRow(GROUP, 'Add a rule')}</p>` : '';
  return html`${enterButton(RULES)}<input type="hidden" name="variants" value="${JSON.stringify(names)}"><input type="hidden" name="default_variant" value="${flag.default_variant ?? ''}">
<datalist id="attributes">${attributes.map((name) => html`<option value="${name}">`)}</datalist>
<p class="quiet">The first rule that holds decides.</p>
<div id="${GROUP}" class="lines">${shown.map((row, n) => rowFieldset(visit, flag, row, n))}
${add}
<fieldset><legend>Everybody else</legend>${outcomeChoice(visit, flag, `${REST}-0`, restFields)}</fieldset></div>
<button class="main">Save rules</button>`;
}

function rowFieldset(visit: Visit, flag: Flag, row: RowFields, n: number): Html {
  const name = (of: string) => `${GROUP}-${n}-${of}`;
  const conditions = Object.entries(operators).map(([of, { label }]) => [of, label] as const);
  const focus = isFresh(row) ? html` autofocus` : '';
  const { attribute = '', operator = 'is', value = '' } = row;
  return html`<fieldset class="line"><legend>Rule ${n + 1}</legend>${rowButtons(GROUP, n, `rule ${n + 1}`)}
${field(visit, RULES, { name: name('attribute'), label: 'Attribute', value: attribute, attributes: html`${plain} list="attributes" placeholder="email"${focus}` })}
${choice(visit, RULES, { name: name('operator'), label: 'Condition', value: operator, options: conditions })}
${field(visit, RULES, { name: name('value'), label: 'Value', value, attributes: plain })}
${outcomeChoice(visit, flag, `${GROUP}-${n}`, row)}</fieldset>`;
}

/** A variant, or shares, whose fields show while they are chosen. */
function outcomeChoice(visit: Visit, { variants, default_variant: usual }: Flag, prefix: string, row: RowFields): Html {
  const names = Object.keys(variants);
  const usualText = usual === null ? 'the default of your code' : `the default variant (${usual})`;
  const options = [
    ...names.map((name) => [`=${name}`, name] as const),
    [SHARES, 'shares in per cent'] as const,
    [DEFAULT, usualText] as const,
  ];
  const { give = prefix === `${REST}-0` ? DEFAULT : (options[0]?.[0] ?? DEFAULT) } = row;
  const chosen = choice(visit, RULES, { name: `${prefix}-give`, label: 'Gets', value: give, options });
  if (names.length > SHARED_AT_ONCE && give !== SHARES) return chosen;
  const share = (name: string, i: number) =>
    field(visit, RULES, {
      name: `${prefix}-share-${i}`,
      label: `${name}, %`,
      value: row[`share-${i}`] ?? '',
      attributes: html`inputmode="numeric" size="4"`,
    });
  return html`${chosen}<div class="shares">${names.map(share)}<p class="hint">100 together. One left empty gets the rest.</p></div>`;
}

function fieldsOf({ attribute, operator, value, outcome }: Row, names: readonly string[]): RowFields {
  return { attribute, operator, value, ...outcomeFields(outcome, names) };
}

function outcomeFields(outcome: Outcome, names: readonly string[]): RowFields {
  if (outcome === null) return { give: DEFAULT };
  if (typeof outcome === 'string') return { give: `=${outcome}` };
  const shares = names.flatMap((name, i) => (outcome[name] === undefined ? [] : [[`share-${i}`, `${outcome[name]}`]]));
  return { give: SHARES, ...Object.fromEntries(shares) };
}

/** The rules that the form says. Throws VALIDATION_FAILED at a field. */
export function rulesOf(form: URLSearchParams): SimpleRules {
  const names: readonly string[] = JSON.parse(form.get('variants') || '[]');
  const usual = form.get('default_variant') || null;
  const rows = rowsOf(form, GROUP).map((row, n) => ({ row, prefix: `${GROUP}-${n}` }));
  const [rest = {}] = rowsOf(form, REST);
  return {
    rows: rows.flatMap(({ row, prefix }) => {
      const condition = conditionOf(row, prefix);
      return condition === null ? [] : [{ ...condition, outcome: outcomeOf(row, prefix, names, usual) }];
    }),
    rest: outcomeOf(rest, `${REST}-0`, names, usual),
  };
}

/** Null: nothing was typed. */
function conditionOf({ operator = '', ...row }: RowFields, prefix: string): Omit<Row, 'outcome'> | null {
  const [attribute, value] = [row.attribute?.trim() ?? '', row.value?.trim() ?? ''];
  if (operator === JSON_OPERATOR) {
    try {
      return { attribute: '', operator, value: JSON.stringify(JSON.parse(value)) };
    } catch (error) {
      throw invalidField(`${prefix}-value`, 'json', `The condition must be JSON: ${(error as Error).message}.`);
    }
  }
  if (attribute === '' && value === '') return null;
  if (attribute === '') throw invalidField(`${prefix}-attribute`, 'required', 'Name the attribute that is compared.');
  return { attribute, operator, value };
}

function outcomeOf(row: RowFields, prefix: string, names: readonly string[], usual: string | null): Outcome {
  const { give = DEFAULT } = row;
  if (give.startsWith('=')) return give.slice(1);
  return give === SHARES ? wholeShares(sharesOf(row, prefix, names), names, usual, `${prefix}-give`) : null;
}

function sharesOf(row: RowFields, prefix: string, names: readonly string[]): Shares {
  const shares = names.flatMap((name, i) => {
    const text = row[`share-${i}`]?.trim() ?? '';
    if (text !== '' && !/^\d{1,3}$/.test(text))
      throw invalidField(`${prefix}-share-${i}`, 'type', 'A share is a whole number from 0 to 100.');
    return text === '' ? [] : [[name, Number(text)]];
  });
  return Object.fromEntries(shares);
}
