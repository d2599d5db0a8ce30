// The operator's first page: every account, found by id, name or address. What the operator does stands on pages of its own.

import { listPage } from '../../../kit/console/list-page.ts';
import { badge, tabs } from '../../../kit/console/table.ts';
import { short, time } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { accountsList } from '../capabilities/accounts-list.ts';

const NAMED_MAX = 100;

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
      cell: ({ account_id: id, name, email }) => accountLink(visit, { id, name: name ?? email }),
    },
    { title: 'Email', cell: ({ email }) => short(email ?? '', 60) },
    { title: 'ID', cell: ({ account_id: id }) => html`<code>${id}</code>` },
    { title: 'Tier', cell: ({ tier }) => tier },
    { title: 'Status', cell: standing },
    { title: 'Created', cell: ({ created_at }) => time(visit, created_at) },
  ],
});

/** By its name where it has one. */
export function accountLink(
  visit: Visit,
  { id, name }: { readonly id: string; readonly name: string | null | undefined },
): Html {
  return html`<a href="${visit.path(`/operator/accounts/${id}`)}">${name ? short(name, 60) : html`<code>${id}</code>`}</a>`;
}

/** The newest accounts by id: what a person calls each. */
export async function accountNames(visit: Visit): Promise<ReadonlyMap<string, string>> {
  const { data } = await visit.call(accountsList, { limit: NAMED_MAX });
  const named = (data?.items ?? []).flatMap(({ account_id: id, name, email }) => {
    const known = name ?? email;
    return known === null ? [] : [[id, known] as const];
  });
  return new Map(named);
}

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
