// The operator's first page: every account, found by id, name or address. What the operator does stands on pages of its own.

import { listPage } from '../../../kit/console/list-page.ts';
import { badge, tabs } from '../../../kit/console/table.ts';
import { short, time } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { accountsList } from '../capabilities/accounts-list.ts';

export type Account = ItemOf<typeof accountsList>;

export const operatorPage = listPage({
  name: 'operator',
  path: '/operator',
  nav: { label: 'Operator', key: 'p', group: 'operator' },
  title: 'Operator',
  caption: 'Accounts',
  list: accountsList,
  above: (visit) => operatorTabs(visit, ''),
  search: [{ name: 'search', label: 'Account', placeholder: 'ID, name or email' }],
  empty: () => html`<p>No accounts match.</p>`,
  columns: (visit) => [
    {
      title: 'Account',
      cell: ({ account_id: id }) => html`<a href="${visit.path(`/operator/accounts/${id}`)}">${short(id, 64)}</a>`,
    },
    { title: 'Name', cell: ({ name }) => short(name ?? '', 60) },
    { title: 'Email', cell: ({ email }) => short(email ?? '', 60) },
    { title: 'Tier', cell: ({ tier }) => tier },
    { title: 'Status', cell: standing },
    { title: 'Created', cell: ({ created_at }) => time(visit, created_at) },
  ],
});

/** The operator's pages beside one another. */
export function operatorTabs(visit: Visit, here: '' | '/topups' | '/outbox' | '/health'): Html {
  const entries = [
    ['Accounts', ''],
    ['Top-ups', '/topups'],
    ['Mail', '/outbox'],
    ['Health', '/health'],
  ] as const;
  return tabs(
    'Operator',
    entries.map(([text, path]) => ({ text, href: visit.path(`/operator${path}`), isHere: path === here })),
  );
}

export function standing({ suspended, purge_at: purgeAt }: Pick<Account, 'suspended' | 'purge_at'>): Html {
  if (purgeAt !== null) return badge('deleted', 'critical');
  return suspended ? badge('suspended', 'critical') : badge('active', 'good');
}
