// One flag: its variants, what a context gets, who gets what as lines and as JSON, the changes that it has had, and its end.
import { copiedId } from '../../../kit/console/copied.ts';
import { dangerLink, dangerZone } from '../../../kit/console/danger-zone.ts';
import { panel } from '../../../kit/console/failure.ts';
import { actButton, actForm, choice, field, jsonOf, jsonTextOf, textOf } from '../../../kit/console/form.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { badge, facts, more, type Page, table } from '../../../kit/console/table.ts';
import { ago, payload, short, time } from '../../../kit/console/text.ts';
import { deletionPage } from '../../../kit/console/typed.ts';
import type { DataOf, ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { evaluate } from '../capabilities/evaluate.ts';
import { get, history, remove, update } from '../capabilities/flags.ts';
import { conditions, linesOf, ruleOf } from './rule-lines.ts';

type Flag = DataOf<typeof get>;

export const FLAGS = '/flags';
const CHANGES = 25;
const GONE = 'Code that asks for it uses its own default from then on.';
const HINT = `Such as "email ends with @example.org: on"; the first that holds decides. The last line may give shares: "25% on, 75% off". Conditions: ${Object.keys(conditions).join(', ')}.`;
export const flagPath = (key: string) => `${FLAGS}/${encodeURIComponent(key)}`;
export const stateOf = ({ enabled }: Pick<Flag, 'enabled'>) => (enabled ? badge('enabled', 'good') : badge('disabled'));
const keyOf = ({ params: { key = '' } }: Visit) => key;
const known = (form: URLSearchParams, visit: Visit) => ({ key: keyOf(visit), revision: Number(form.get('revision')) });

export const flagPage: ConsolePage = {
  ...{ name: 'flag', path: `${FLAGS}/{key}`, needs: get, isLive: true, show },
  acts: {
    turn: {
      capability: update,
      input: (form, visit) => ({ key: keyOf(visit), enabled: form.get('enabled') === 'true' }),
      done: 'Flag turned on or off.',
    },
    rules: {
      capability: update,
      input: (form, visit) => ({
        ...{ ...known(form, visit), targeting: ruleOf(form.get('rules') ?? '') },
        default_variant: textOf(form, 'default_variant') ?? null,
      }),
      done: 'Rules saved.',
    },
    json: {
      capability: update,
      input: (form, visit) => ({ ...JSON.parse(jsonTextOf(form, 'flag')), ...known(form, visit) }),
      done: 'Settings saved.',
    },
  },
};

export const flagDeletePage = deletionPage({
  ...{ name: 'flag_delete', path: `${FLAGS}/{key}/delete`, noun: 'flag', capability: remove, parameter: 'key' },
  about: async (visit, key) => ({ back: flagPath((await visit.need(get, { key })).key), text: GONE }),
  next: FLAGS,
});

async function show(visit: Visit): Promise<View> {
  const key = keyOf(visit);
  const cursor = visit.query.get('cursor') ?? undefined;
  const [flag, changes] = await Promise.all([
    visit.need(get, { key }),
    visit.call(history, { key, cursor, limit: CHANGES }),
  ]);
  const act = dangerLink(visit.path(`${flagPath(key)}/delete`), 'Delete…');
  const content = html`${head(visit, flag)}
<div class="panels">${variantsOf(flag)}<section class="panel"><h2>Try a context</h2>${await tried(visit, key)}</section></div>
<section class="panel"><h2>Rules</h2>${visit.may(update) ? forms(visit, flag) : payload(flag.targeting, 'The rule', { call: 'flags.get' })}</section>
${panel(visit, 'Changes', changes, (page) => changesOf(visit, page))}
${dangerZone([visit.may(remove) ? { title: 'Delete this flag', text: GONE, act } : null])}`;
  return { title: key, content };
}

function head(visit: Visit, flag: Flag): Html {
  const { key, enabled, type, description, updated_at } = flag;
  const turn = actButton(visit, 'turn', enabled ? 'Disable' : 'Enable', { enabled: String(!enabled) });
  return html`<p><a href="${visit.path(FLAGS)}">Feature flags</a></p>
<div class="head"><div class="head named"><h1>${short(key, 128)}</h1><p>${stateOf(flag)}</p></div>${visit.may(update) ? html`<div class="actions">${turn}</div>` : ''}</div>
<p class="quiet">${type} · changed ${ago(visit, updated_at)} · ${copiedId(key, 'the key')}</p>
${description === null ? '' : html`<p>${short(description, 500)}</p>`}`;
}

function variantsOf({ variants, default_variant: usual }: Flag): Html {
  const shown = Object.entries(variants).map(([name, value]): readonly [string, Html] => [
    name,
    html`<code class="breaking">${short(JSON.stringify(value), 200)}</code>${name === usual ? html` ${badge('default')}` : ''}`,
  ]);
  return html`<section class="panel"><h2>Variants</h2>${facts(shown)}${usual === null ? html`<p class="quiet">Without a default variant your code uses its own default.</p>` : ''}</section>`;
}

async function tried(visit: Visit, key: string): Promise<Html> {
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
  const { description, default_variant, variants, targeting, metadata } = flag;
  const value = JSON.stringify({ description, default_variant, variants, targeting, metadata }, null, 2);
  const json = field(visit, 'json', { name: 'flag', label: 'Settings', value, rows: 16, isRequired: true });
  const lines = linesOf(targeting);
  const isOpen = lines === null || visit.refused?.act === 'json';
  return html`${lines === null ? html`<p class="quiet">This rule is more than lines tell. Edit it as JSON.</p>` : actForm(visit, 'rules', rulesForm(visit, flag, lines), revision)}
<details id="settings"${isOpen ? html` open` : ''}><summary>Settings, and rules as JSON</summary>${actForm(visit, 'json', html`${json}<button class="main">Save</button>`, revision)}</details>`;
}

function rulesForm(visit: Visit, { variants, default_variant }: Flag, lines: string): Html {
  const options = [
    ...Object.keys(variants).map((name) => [name, name] as const),
    ['', 'the default of your code'] as const,
  ];
  const usual = { name: 'default_variant', label: 'Everybody else', value: default_variant ?? '', options };
  return html`${field(visit, 'rules', { name: 'rules', label: 'Rules, one a line', value: lines, rows: 6, hint: HINT })}
${choice(visit, 'rules', usual)}<button class="main">Save rules</button>`;
}

function changesOf(visit: Visit, page: Page<ItemOf<typeof history>>): Html {
  const then = ({ flag, revision }: ItemOf<typeof history>) =>
    flag === null
      ? ''
      : html`<details id="change-${revision}"><summary>Revision ${String(revision)}</summary>${payload(flag, `The flag at revision ${revision}`, { call: 'flags.history' })}</details>`;
  const rows = table({
    ...{ caption: 'Changes', rows: page.items, empty: html`<p>No changes are kept.</p>` },
    columns: [
      { title: 'Time', cell: ({ created_at }) => time(visit, created_at) },
      { title: 'Change', cell: ({ action }) => action },
      { title: 'Fields', cell: ({ changed_fields: fields }) => fields.join(', ') },
      { title: 'By', cell: ({ actor }) => html`<code>${short(actor, 80)}</code>` },
      { title: 'Then it was', cell: then },
    ],
  });
  return html`${rows}${more(visit, page)}`;
}
