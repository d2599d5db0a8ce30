// The flags of the account, and a form for a new one.
import { choice, field, textOf } from '../../../kit/console/form.ts';
import { listPage } from '../../../kit/console/list-page.ts';
import { badge, teach } from '../../../kit/console/table.ts';
import { ago, short } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { invalidField } from '../../../problems/problem.ts';
import { create } from '../capabilities/create.ts';
import { list } from '../capabilities/list.ts';

export const FLAGS = '/flags';
const kinds = create.input.properties.type.enum as readonly string[];
const SWITCH = '{"on": true, "off": false}';

export function flagPath(key: string): string {
  return `${FLAGS}/${encodeURIComponent(key)}`;
}

export const flagsPage = listPage({
  ...{ name: 'flags', path: FLAGS, nav: { label: 'Flags', key: 'g', group: 'build', holds: list } },
  ...{ title: 'Feature flags', intro: 'Every OpenFeature SDK asks for them.', caption: 'Flags', list },
  empty: (visit) => teach('No flags yet. To turn a feature on for a quarter of your users:', firstCall(visit)),
  columns: (visit) => [
    { title: 'Key', cell: ({ key }) => html`<a href="${visit.path(flagPath(key))}">${short(key, 80)}</a>` },
    { title: 'State', cell: stateOf },
    { title: 'Type', cell: ({ type }) => type },
    { title: 'Default', cell: ({ default_variant }) => (default_variant === null ? '' : short(default_variant, 40)) },
    { title: 'Rules', cell: ({ has_targeting }) => (has_targeting ? 'yes' : 'none') },
    { title: 'Description', cell: ({ description }) => short(description ?? '', 80) },
    { title: 'Changed', cell: ({ updated_at }) => ago(visit, updated_at) },
  ],
  create: {
    capability: create,
    heading: 'New flag',
    input: (form) => ({
      ...{ key: textOf(form, 'key'), type: textOf(form, 'type'), description: textOf(form, 'description') ?? null },
      ...{ variants: jsonOf(form, 'variants'), default_variant: textOf(form, 'default_variant') ?? null },
    }),
    done: 'Flag created.',
    next: ({ key }) => flagPath(key),
    form: (visit, act) =>
      html`${field(visit, act, { name: 'key', label: 'Key', isRequired: true, hint: 'As your code asks for it, such as new-checkout.', attributes: html`spellcheck="false" autocapitalize="off"` })}
${field(visit, act, { name: 'description', label: 'Description' })}
<div class="pair">${choice(visit, act, { name: 'type', label: 'Type', value: 'boolean', options: kinds.map((kind) => [kind, kind]) })}
${field(visit, act, { name: 'default_variant', label: 'Default variant', value: 'off', hint: 'When no rule decides. Empty: the default of your code.', attributes: html`spellcheck="false"` })}</div>
${field(visit, act, { name: 'variants', label: 'Variants', value: SWITCH, rows: 4, isRequired: true, hint: 'JSON: values by name, all of the type above.' })}
<button class="main">Create flag</button>`,
  },
});

export function stateOf({ enabled }: Pick<ItemOf<typeof list>, 'enabled'>): Html {
  return enabled ? badge('enabled', 'good') : badge('disabled');
}

/** A JSON object that somebody typed; undefined: nothing. */
export function jsonOf(form: URLSearchParams, name: string): object | undefined {
  const text = textOf(form, name);
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Told below.
  }
  throw invalidField(name, 'json', 'This must be a JSON object.');
}

function firstCall(visit: Visit) {
  const variants = { on: true, off: false };
  const targeting = {
    fractional: [
      ['on', 25],
      ['off', 75],
    ],
  };
  return visit.samples([
    [create, { key: 'new-checkout', type: 'boolean', variants, default_variant: 'off', targeting }],
  ]);
}
