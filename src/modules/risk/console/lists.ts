// The allow and block lists: what is on them, a new entry, and off again.
import { actButton, choice, field, textOf } from '../../../kit/console/form.ts';
import { instantField, instantOf } from '../../../kit/console/instant-field.ts';
import { listPage } from '../../../kit/console/list-page.ts';
import { badge, teach } from '../../../kit/console/table.ts';
import { ago, short, time } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { listAdd, listEntries, listRemove } from '../capabilities/lists.ts';
import { LISTS, riskTabs } from './decisions.ts';

const lists = { block: 'Block', allow: 'Allow' };
const kinds = {
  ip: 'Network address',
  cidr: 'Network',
  email: 'E-mail address',
  domain: 'Mail domain',
  user: 'User ID',
  device: 'Device ID',
};
const sentFields = (form: URLSearchParams, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, textOf(form, name)]));

export const listsPage = listPage({
  name: 'risk_lists',
  path: LISTS,
  title: 'Risk',
  caption: 'All entries',
  list: listEntries,
  above: (visit) => riskTabs(visit, LISTS),
  intro: 'An entry decides alone, whatever the rules say. Allow wins over block.',
  filter: { name: 'list', label: 'Lists', values: Object.keys(lists) },
  empty: (visit) =>
    teach('No entries. To block a user:', visit.samples([[listAdd, { list: 'block', kind: 'user', value: 'u-17' }]])),
  columns: (visit) => [
    { title: 'List', cell: ({ list }) => badge(list, list === 'block' ? 'critical' : 'good') },
    { title: 'Kind', cell: ({ kind }) => kinds[kind] },
    { title: 'Value', cell: ({ value }) => short(value, 80) },
    { title: 'Note', cell: ({ note }) => short(note ?? '', 80) },
    { title: 'Added', cell: ({ created_at }) => ago(visit, created_at) },
    { title: 'Expires', cell: ({ expires_at }) => time(visit, expires_at) },
    {
      title: 'Remove',
      cell: ({ kind, value }) => (visit.may(listRemove) ? actButton(visit, 'remove', 'Remove', { kind, value }) : ''),
    },
  ],
  create: {
    capability: listAdd,
    heading: 'New entry',
    form: entryForm,
    done: 'Entry added.',
    input: (form, visit) => ({
      ...sentFields(form, ['list', 'kind', 'value', 'note']),
      expires_at: instantOf(form, 'expires_at', visit),
    }),
  },
  acts: {
    remove: {
      capability: listRemove,
      done: 'Entry removed.',
      input: (form) => sentFields(form, ['kind', 'value']),
    },
  },
});

function entryForm(visit: Visit, act: string): Html {
  const plain = html`spellcheck="false" autocapitalize="off"`;
  return html`<div class="pair">${choice(visit, act, { name: 'list', label: 'List', value: 'block', options: Object.entries(lists) })}
${choice(visit, act, { name: 'kind', label: 'Kind', value: 'ip', options: Object.entries(kinds) })}</div>
${field(visit, act, { name: 'value', label: 'Value', isRequired: true, attributes: plain })}
<div class="pair">${field(visit, act, { name: 'note', label: 'Note' })}
${instantField(visit, act, { name: 'expires_at', label: 'Expires', hint: 'Empty: never.' })}</div>
<button class="main">Add entry</button>`;
}
