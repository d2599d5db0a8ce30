// The operator's first page: every account, found by id, name or address. What the operator does stands on pages of its own.

import { panel } from '../../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { badge, more, type Page, table, tabs } from '../../../kit/console/table.ts';
import { short, time } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { accountsList } from '../capabilities/accounts-list.ts';

export type Account = ItemOf<typeof accountsList>;

const ROWS = 25;

export const operatorPage: ConsolePage = {
  name: 'operator',
  path: '/operator',
  needs: accountsList,
  nav: { label: 'Operator', key: 'p', group: 'operator' },
  show,
};

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

async function show(visit: Visit): Promise<View> {
  const search = visit.query.get('search')?.trim() || undefined;
  const cursor = visit.query.get('cursor') ?? undefined;
  const list = await visit.call(accountsList, { search, cursor, limit: ROWS });
  const content = html`<h1>Operator</h1>
${operatorTabs(visit, '')}
<form method="get" class="row"><label>Account <input type="search" name="search" value="${search ?? ''}" size="28" placeholder="ID, name or email" spellcheck="false"></label> <button>Search</button></form>
${panel(visit, 'Accounts', list, (page) => html`${accounts(visit, page)}${more(visit, page)}`)}`;
  return { title: 'Operator', content };
}

function accounts(visit: Visit, { items }: Page<Account>): Html {
  return table({
    caption: 'Accounts',
    rows: items,
    empty: html`<p>No accounts match.</p>`,
    columns: [
      {
        title: 'Account',
        cell: ({ account_id: id }) => html`<a href="${visit.path(`/operator/accounts/${id}`)}">${short(id, 64)}</a>`,
      },
      { title: 'Name', cell: ({ name }) => short(name ?? '', 60) },
      { title: 'Email', cell: ({ email }) => short(email ?? '', 60) },
      { title: 'Tier', cell: ({ tier }) => tier },
      { title: 'Status', cell: (account) => standing(account) },
      { title: 'Created', cell: ({ created_at }) => time(visit, created_at) },
    ],
  });
}
