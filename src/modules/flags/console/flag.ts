// One flag: its variants, what a context gets, who gets what as a form and as JSON, the changes that it has had, and its end.
import { type CallerNames, callerName, readCallerNames } from '../../../kit/console/callers.ts';
import { copiedId } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import { actButton, actForm, field, jsonOf, textOf } from '../../../kit/console/form.ts';
import { type ResourcePage, resourcePages } from '../../../kit/console/resource-pages.ts';
import { redrawRows } from '../../../kit/console/rows.ts';
import { badge, facts, more, type Page, table } from '../../../kit/console/table.ts';
import { ago, payload, short, time } from '../../../kit/console/text.ts';
import type { DataOf, ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { evaluate } from '../capabilities/evaluate.ts';
import { get, history, remove, update } from '../capabilities/flags.ts';
import { RULES, rulesForm, rulesOf } from './rules-form.ts';
import { readRules, writeRules } from './simple-rules.ts';

type Flag = DataOf<typeof get>;

export const FLAGS = '/flags';
const CHANGES = 25;
const GONE = 'Code that asks for it uses its own default from then on.';
const plain = html`spellcheck="false"`;
export const flagPath = (key: string) => `${FLAGS}/${encodeURIComponent(key)}`;
export const stateOf = ({ enabled }: Pick<Flag, 'enabled'>) => (enabled ? badge('enabled', 'good') : badge('disabled'));
const keyOf = ({ params: { key = '' } }: Visit) => key;
const flagInput = (form: URLSearchParams, visit: Visit) => ({
  key: keyOf(visit),
  revision: Number(form.get('revision')),
});

const flagPage: ResourcePage<Flag> = {
  below: '',
  isLive: true,
  actions: (visit, { enabled }) =>
    visit.may(update)
      ? actButton(visit, 'turn', enabled ? 'Disable' : 'Enable', { enabled: String(!enabled) })
      : undefined,
  show,
  acts: {
    turn: {
      capability: update,
      input: (form, visit) => ({ key: keyOf(visit), enabled: form.get('enabled') === 'true' }),
      done: 'Flag turned on or off.',
    },
    [RULES]: {
      capability: update,
      redraw: redrawRows,
      input: (form, visit) => ({ ...flagInput(form, visit), targeting: writeRules(rulesOf(form)) }),
      done: 'Rules saved.',
    },
    json: {
      capability: update,
      input: (form, visit) => ({
        ...flagInput(form, visit),
        description: textOf(form, 'description') ?? null,
        default_variant: textOf(form, 'default_variant') ?? null,
        variants: jsonOf(form, 'variants'),
        targeting: jsonOf(form, 'targeting') ?? null,
        metadata: jsonOf(form, 'metadata') ?? {},
      }),
      done: 'Settings saved.',
    },
  },
};

export const flagPages = resourcePages<Flag>({
  name: 'flag',
  noun: 'flag',
  path: `${FLAGS}/{key}`,
  list: { title: 'Feature flags', path: FLAGS },
  needs: get,
  read: (visit) => visit.need(get, { key: visit.params.key }),
  nameOf: ({ key }) => key,
  badge: (_, flag) => stateOf(flag),
  about,
  pages: [flagPage],
  deletion: { capability: remove, warning: () => GONE, effect: () => GONE },
});

async function show(visit: Visit, flag: Flag) {
  const { key } = flag;
  const cursor = visit.query.get('cursor') ?? undefined;
  const [changes, names] = await Promise.all([
    visit.call(history, { key, cursor, limit: CHANGES }),
    readCallerNames(visit),
  ]);
  const content = html`<div class="panels">${variantsOf(flag)}<section class="panel"><h2>Try a context</h2>${await trialView(visit, key)}</section></div>
<section class="panel"><h2>Rules</h2>${visit.may(update) ? forms(visit, flag) : payload(flag.targeting, 'The rule', { call: 'flags.get' })}</section>
${panel(visit, 'Changes', changes, (page) => changesOf(visit, page, names))}`;
  return { content };
}

function about(visit: Visit, { key, type, description, updated_at }: Flag): Html {
  return html`<p class="quiet">${type} · changed ${ago(visit, updated_at)} · ${copiedId(key, 'the key')}</p>
${description === null ? '' : html`<p>${short(description, 500)}</p>`}`;
}

function variantsOf({ variants, default_variant: usual }: Flag): Html {
  const shown = Object.entries(variants).map(([name, value]): readonly [string, Html] => [
    name,
    html`<code class="breaking">${short(JSON.stringify(value), 200)}</code>${name === usual ? html` ${badge('default')}` : ''}`,
  ]);
  return html`<section class="panel"><h2>Variants</h2>${facts(shown)}${usual === null ? html`<p class="quiet">Without a default variant your code uses its own default.</p>` : ''}</section>`;
}

async function trialView(visit: Visit, key: string): Promise<Html> {
  const sent = visit.query.get('context')?.trim() ?? '';
  const form = html`<form method="get"><div class="field"><label for="tried-context">Context</label><textarea id="tried-context" name="context" rows="4" spellcheck="false">\n${sent === '' ? '{"targetingKey": "user-1"}' : sent}</textarea></div><button>Evaluate</button></form>`;
  if (sent === '' || !visit.may(evaluate)) return form;
  const read = await visit.call(evaluate, { key, context: jsonOf(visit.query, 'context') });
  return html`${form}${panel(visit, 'What it gets', read, ({ items: [item] }) =>
    facts([
      ['Value', html`<code class="breaking">${short(JSON.stringify(item?.value), 500)}</code>`],
      ['Variant', item?.variant == null ? 'none: your code uses its own default' : short(item.variant, 100)],
      ['Reason', html`${badge(item?.reason ?? '')} ${reasons[item?.reason ?? ''] ?? ''}`],
      ['Error', item?.error_code ?? null],
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

function forms(visit: Visit, flag: Flag): Html {
  const revision = { revision: String(flag.revision) };
  const rules = readRules(flag.targeting);
  const json = (name: 'variants' | 'targeting' | 'metadata', label: string, hint: string) =>
    field(visit, 'json', { name, label, hint, rows: 8, value: JSON.stringify(flag[name], null, 2) });
  const settings = html`${field(visit, 'json', { name: 'description', label: 'Description', value: flag.description ?? '' })}
${field(visit, 'json', { name: 'default_variant', label: 'Default variant', value: flag.default_variant ?? '', hint: 'Empty: the default of your code.', attributes: plain })}
${json('variants', 'Variants', `JSON: values by name, all of type ${flag.type}.`)}
${json('targeting', 'Targeting', 'JSON: a rule of flagd that answers the name of a variant; {}: none.')}
${json('metadata', 'Metadata', 'JSON: texts, numbers and truth values.')}
<button class="main">Save</button>`;
  const isOpen = rules === null || visit.refused?.act === 'json';
  return html`${rules === null ? html`<p class="quiet">This rule is more than rows show. Edit it as JSON.</p>` : actForm(visit, RULES, rulesForm(visit, flag, rules), revision)}
<details id="settings"${isOpen ? html` open` : ''}><summary>Settings, and rules as JSON</summary>${actForm(visit, 'json', settings, revision)}</details>`;
}

function changesOf(visit: Visit, page: Page<ItemOf<typeof history>>, names: CallerNames): Html {
  const then = ({ flag, revision }: ItemOf<typeof history>) =>
    flag === null
      ? ''
      : html`<details id="change-${revision}"><summary>Revision ${String(revision)}</summary>${payload(flag, `The flag at revision ${revision}`, { call: 'flags.history' })}</details>`;
  const rows = table({
    caption: 'Changes',
    rows: page.items,
    empty: html`<p>No changes are kept.</p>`,
    columns: [
      { title: 'Time', cell: ({ created_at }) => time(visit, created_at) },
      { title: 'Change', cell: changeText },
      { title: 'By', cell: ({ actor }) => short(callerName(visit, actor, names), 80) },
      { title: 'Then it was', cell: then },
    ],
  });
  return html`${rows}${more(visit, page)}`;
}

/** `Changed targeting, default variant`. */
function changeText({ action, changed_fields: fields }: ItemOf<typeof history>): string {
  const verbs = { create: 'Created', update: 'Changed', delete: 'Deleted', import: 'Imported' };
  return [verbs[action], fields.join(', ').replaceAll('_', ' ')].join(' ').trim();
}
