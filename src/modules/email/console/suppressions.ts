// Addresses that get no mail: why, since when, a new one, and off the list again.
import { actForm, field, textOf } from '../../../kit/console/form.ts';
import { listPage } from '../../../kit/console/list-page.ts';
import { badge, teach } from '../../../kit/console/table.ts';
import { ago, short } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { add } from '../capabilities/suppression/add.ts';
import { remove } from '../capabilities/suppression/delete.ts';
import { list } from '../capabilities/suppression/list.ts';
import { emailTabs, mailPath, SUPPRESSIONS } from './tabs.ts';

type Suppression = ItemOf<typeof list>;

export const suppressionsPage = listPage({
  name: 'email_suppressions',
  path: SUPPRESSIONS,
  title: 'Suppressions',
  caption: 'All suppressed addresses',
  list,
  intro: 'These addresses get no mail of the account. Bounces and complaints add them by themselves.',
  above: (visit) => emailTabs(visit, SUPPRESSIONS),
  filter: { name: 'reason', label: 'Reasons', values: ['bounce', 'complaint', 'unsubscribe', 'manual'] },
  empty: (visit) =>
    teach('No suppressed addresses. To suppress one:', visit.samples([[add, { address: 'grace@example.org' }]])),
  columns: (visit) => [
    { title: 'Address', cell: ({ address }) => short(address, 100) },
    { title: 'Reason', cell: reasonBadge },
    { title: 'Email', cell: (suppression) => emailOf(visit, suppression) },
    { title: 'Since', cell: ({ created_at }) => ago(visit, created_at) },
    {
      title: 'Remove',
      cell: ({ address }) =>
        visit.may(remove) ? actForm(visit, 'remove', html`<button>Remove</button>`, { address }) : '',
    },
  ],
  create: {
    capability: add,
    heading: 'Suppress address',
    intro: 'Mail to the address leaves it out from now on.',
    input: (form) => ({ address: textOf(form, 'address') }),
    done: 'Address suppressed.',
    form: (visit, act) =>
      html`${field(visit, act, { name: 'address', label: 'Address', isRequired: true, attributes: html`inputmode="email" spellcheck="false" autocapitalize="off" placeholder="grace@example.org"` })}
<button class="main">Suppress address</button>`,
  },
  acts: {
    remove: {
      capability: remove,
      input: (form) => ({ address: form.get('address') ?? '' }),
      done: 'Address removed. It gets mail again.',
    },
  },
});

function reasonBadge({ reason }: Suppression): Html {
  return badge(reason, reason === 'complaint' ? 'critical' : reason === 'bounce' ? 'warning' : 'plain');
}

function emailOf(visit: Visit, { email_id: id }: Suppression): Html {
  if (id === null) return html`<span class="quiet">none</span>`;
  return html`<a href="${visit.path(mailPath(id))}"><code>${id}</code></a>`;
}
