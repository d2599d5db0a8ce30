// One flag: its variants, the rules that decide as a form, and what a context gets.
import { copiedId } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import { actButton, actForm, choice, field, textOf } from '../../../kit/console/form.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { badge, facts, pageTabs } from '../../../kit/console/table.ts';
import { ago, payload, short } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { invalidField } from '../../../problems/problem.ts';
import { evaluate } from '../capabilities/evaluate.ts';
import { get } from '../capabilities/get.ts';
import { update } from '../capabilities/update.ts';
import { FLAGS, flagPath, stateOf } from './flags.ts';
import { operators, type Row, readRules, type SimpleRules, writeRules } from './simple-rules.ts';

export type Flag = DataOf<typeof get>;

const FREE_ROWS = 2;
const ROWS_MAX = 50;
export const keyOf = ({ params: { key = '' } }: Visit) => key;

export const flagPage: ConsolePage = {
  ...{ name: 'flag', path: `${FLAGS}/{key}`, needs: get, isLive: true, show },
  acts: {
    enable: { capability: update, input: (_, visit) => ({ key: keyOf(visit), enabled: true }), done: 'Flag enabled.' },
    disable: {
      ...{ capability: update, done: 'Flag disabled: your code uses its own default.' },
      input: (_, visit) => ({ key: keyOf(visit), enabled: false }),
    },
    rules: { capability: update, input: rulesInput, done: 'Rules saved.' },
  },
};

async function show(visit: Visit): Promise<View> {
  const key = keyOf(visit);
  const sent = visit.query.get('context')?.trim() ?? '';
  const flag = await visit.need(get, { key });
  const content = html`${head(visit, flag, '')}
<div class="panels">${variantsOf(flag)}<section class="panel"><h2>Try a context</h2>${await tried(visit, key, sent)}</section></div>
<section class="panel"><h2>Rules</h2>${rulesOf(visit, flag)}</section>`;
  return { title: key, content };
}

/** What the pages of a flag show above all else. */
export function head(visit: Visit, flag: Flag, here: '' | '/history' | '/settings'): Html {
  const { key, enabled, type, description, updated_at } = flag;
  const at = visit.path(flagPath(key));
  const tab = (text: string, below: string) => ({ text, href: `${at}${below}`, isHere: below === here });
  const turned = enabled ? actButton(visit, 'disable', 'Disable') : actButton(visit, 'enable', 'Enable');
  return html`<p><a href="${visit.path(FLAGS)}">Feature flags</a></p>
<div class="head"><div class="head named"><h1>${short(key, 128)}</h1><p>${stateOf(flag)}</p></div>${here === '' && visit.may(update) ? html`<div class="actions">${turned}</div>` : ''}</div>
<p class="quiet">${type} · changed ${ago(visit, updated_at)} · ${copiedId(key, 'the key')}</p>
${description === null ? '' : html`<p>${short(description, 500)}</p>`}
${pageTabs('Pages of the flag', [tab('Targeting', ''), tab('Settings', '/settings'), tab('History', '/history')])}`;
}

function variantsOf({ variants, default_variant: usual }: Flag): Html {
  const shown = Object.entries(variants).map(([name, value]): readonly [string, Html] => [
    name,
    html`<code class="breaking">${short(JSON.stringify(value), 200)}</code>${name === usual ? html` ${badge('default')}` : ''}`,
  ]);
  return html`<section class="panel"><h2>Variants</h2>${facts(shown)}${usual === null ? html`<p class="quiet">Without a default variant your code uses its own default.</p>` : ''}</section>`;
}

async function tried(visit: Visit, key: string, sent: string): Promise<Html> {
  const form = html`<form method="get"><div class="field"><label for="tried-context">Context</label><textarea id="tried-context" name="context" rows="4" spellcheck="false">\n${sent === '' ? '{"targetingKey": "user-1"}' : sent}</textarea></div><button>Evaluate</button></form>`;
  if (sent === '' || !visit.may(evaluate)) return form;
  const context = parsed(sent);
  if (context === null) return html`${form}<p class="fault">The context must be a JSON object.</p>`;
  const read = await visit.call(evaluate, { key, context });
  return html`${form}${panel(visit, 'What it gets', read, ({ items: [item] }) =>
    item === undefined
      ? html``
      : facts([
          ['Value', html`<code class="breaking">${short(JSON.stringify(item.value), 500)}</code>`],
          ['Variant', item.variant === null ? 'none: your code uses its own default' : short(item.variant, 100)],
          ['Reason', html`${badge(item.reason)} ${reasons[item.reason] ?? ''}`],
          ['Error', item.error_code],
        ]),
  )}`;
}

const reasons: Readonly<Record<string, string>> = {
  STATIC: 'There are no rules: it is the default variant.',
  DEFAULT: 'No rule decided.',
  TARGETING_MATCH: 'A rule decided.',
  DISABLED: 'The flag is off.',
  ERROR: 'The rule answered no variant of the flag.',
};

function parsed(text: string): object | null {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function rulesOf(visit: Visit, flag: Flag): Html {
  const rules = readRules(flag.targeting);
  if (rules === null)
    return html`<p class="quiet">This rule is more than the form shows. Edit it as JSON in the settings.</p>${payload(JSON.stringify(flag.targeting, null, 2), 'The rule', { call: 'flags.get' })}`;
  return visit.may(update)
    ? actForm(visit, 'rules', rulesForm(visit, flag, rules), { revision: String(flag.revision) })
    : html`<p class="quiet">You may not change it.</p>`;
}

function rulesForm(visit: Visit, { variants }: Flag, { rows, shares }: SimpleRules): Html {
  const names = Object.keys(variants);
  const all: readonly (Row | null)[] = [...rows, ...Array<null>(FREE_ROWS).fill(null)].slice(0, ROWS_MAX);
  return html`<p class="quiet">The first condition that holds decides. A row without an attribute is left out.</p>
${all.map((row, at) => ruleRow(visit, row, at, names))}
<h3>Everybody else</h3>
<p class="quiet">Per cent of targetingKeys for each variant; all empty: the default variant.</p>
${names.map((name) => html`<input type="hidden" name="share_of" value="${name}">`)}
<div class="pair">${names.map((name, at) => field(visit, 'rules', { name: `share_${at}`, label: name, value: String(shares[name] ?? ''), attributes: html`inputmode="numeric"` }))}</div>
<button class="main">Save rules</button>`;
}

function ruleRow(visit: Visit, row: Row | null, at: number, names: readonly string[]): Html {
  const named = (name: string) => `${name}_${at}`;
  const of = at + 1;
  return html`<div class="pair">${field(visit, 'rules', { name: named('attribute'), label: `Attribute ${of}`, value: row?.attribute ?? '', attributes: html`spellcheck="false" placeholder="email"` })}
${choice(visit, 'rules', { name: named('operator'), label: `Condition ${of}`, value: row?.operator ?? 'is', options: Object.entries(operators).map(([name, { label }]) => [name, label]) })}
${field(visit, 'rules', { name: named('value'), label: `Value ${of}`, value: row?.value ?? '', attributes: html`spellcheck="false"` })}
${choice(visit, 'rules', { name: named('variant'), label: `Variant ${of}`, value: row?.variant ?? names[0] ?? '', options: names.map((name) => [name, name]) })}</div>`;
}

function rulesInput(form: URLSearchParams, visit: Visit) {
  const rows: Row[] = [];
  for (let at = 0; form.has(`attribute_${at}`) && at < ROWS_MAX; at += 1) {
    const attribute = textOf(form, `attribute_${at}`);
    if (attribute === undefined) continue;
    const operator = form.get(`operator_${at}`) ?? '';
    if (!Object.hasOwn(operators, operator))
      throw invalidField(`operator_${at}`, 'enum', 'There is no such condition.');
    rows.push({
      attribute,
      operator,
      value: textOf(form, `value_${at}`) ?? '',
      variant: form.get(`variant_${at}`) ?? '',
    });
  }
  const shares = form.getAll('share_of').map((name, at) => [name, shareOf(form, `share_${at}`)] as const);
  const targeting = writeRules({ rows, shares: Object.fromEntries(shares) });
  return { key: keyOf(visit), revision: Number(form.get('revision')), targeting };
}

function shareOf(form: URLSearchParams, name: string): number {
  const value = Number(textOf(form, name) ?? 0);
  if (Number.isInteger(value) && value >= 0 && value <= 1_000_000) return value;
  throw invalidField(name, 'type', 'A share is a whole number.');
}
