// The flags of the account, and a form for a new one.
import { choice, field, jsonOf, textOf } from '../../../kit/console/form.ts';
import { listPage } from '../../../kit/console/list-page.ts';
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { teach } from '../../../kit/console/table.ts';
import { ago, short } from '../../../kit/console/text.ts';
import { html } from '../../../lib/html.ts';
import { create, list } from '../capabilities/flags.ts';
import { FLAGS, flagPages, flagPath, stateOf } from './flag.ts';

const types = create.input.properties.type.enum;
const attributes = html`spellcheck="false" autocapitalize="off"`;

const flagsPage = listPage({
  name: 'flags',
  path: FLAGS,
  nav: { label: 'Flags', key: 'g', group: 'build' },
  title: 'Feature flags',
  intro: 'Every OpenFeature SDK asks for them.',
  caption: 'Flags',
  list,
  empty: (visit) =>
    teach(
      'No flags yet. To turn a feature on for testers and a quarter of your users:',
      visit.samples([[create, create.examples[0]?.input ?? {}]]),
    ),
  columns: (visit) => [
    { title: 'Key', cell: ({ key }) => html`<a href="${visit.path(flagPath(key))}">${short(key, 80)}</a>` },
    { title: 'State', cell: stateOf },
    { title: 'Type', cell: ({ type }) => type },
    { title: 'Default', cell: ({ default_variant }) => short(default_variant ?? '', 40) },
    { title: 'Rules', cell: ({ has_targeting }) => (has_targeting ? 'yes' : 'none') },
    { title: 'Description', cell: ({ description }) => short(description ?? '', 80) },
    { title: 'Changed', cell: ({ updated_at }) => ago(visit, updated_at) },
  ],
  create: {
    capability: create,
    heading: 'New flag',
    input: (form) => ({
      key: textOf(form, 'key'),
      type: textOf(form, 'type'),
      description: textOf(form, 'description'),
      variants: jsonOf(form, 'variants'),
      default_variant: textOf(form, 'default_variant'),
    }),
    done: 'Flag created.',
    next: ({ key }) => flagPath(key),
    form: (visit, act) =>
      html`${field(visit, act, { name: 'key', label: 'Key', isRequired: true, hint: 'As your code asks for it, such as new-checkout.', attributes })}
${field(visit, act, { name: 'description', label: 'Description' })}
<div class="pair">${choice(visit, act, { name: 'type', label: 'Type', value: 'boolean', options: types.map((type) => [type, type]) })}
${field(visit, act, { name: 'default_variant', label: 'Default variant', value: 'off', hint: 'When no rule decides. Empty: the default of your code.', attributes })}</div>
${field(visit, act, { name: 'variants', label: 'Variants', value: '{"on": true, "off": false}', rows: 4, isRequired: true, hint: 'JSON: values by name, all of the type above.' })}
<button class="main">Create flag</button>`,
  },
});

export const flagsConsole: ModuleConsole = { pages: [flagsPage, ...flagPages] };
