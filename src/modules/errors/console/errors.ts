// The error groups of the account: which errors there are, how often each came in the last day, and to whom; a search over their events.

import { panel } from '../../../kit/console/failure.ts';
import type { Act, ConsolePage, View } from '../../../kit/console/page.ts';
import { type Select, selectedIds } from '../../../kit/console/select.ts';
import { more, type Page, table, tabs, teach, withQuery } from '../../../kit/console/table.ts';
import { ago, count, short } from '../../../kit/console/text.ts';
import type { Callable, ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { invalidField } from '../../../problems/problem.ts';
import { groups as errorsGroups } from '../capabilities/groups.ts';
import { ignore } from '../capabilities/ignore.ts';
import { resolve } from '../capabilities/resolve.ts';
import { search as errorsSearch } from '../capabilities/search.ts';
import { unignore } from '../capabilities/unignore.ts';
import { unresolve } from '../capabilities/unresolve.ts';
import { type Group, groupPath, levelOf, stateOf, typeBefore } from './group.ts';
import { sparkline } from './sparkline.ts';

type Found = ItemOf<typeof errorsSearch>;

const ROWS = 25;
const STATUSES = [
  ['unresolved', 'Unresolved'],
  ['resolved', 'Resolved'],
  ['ignored', 'Ignored'],
  ['all', 'All'],
] as const;
const SORTS = [
  ['last_seen_desc', 'Last seen'],
  ['count_desc', 'Most events'],
  ['first_seen_desc', 'First seen'],
] as const;
const labels = { resolve: 'Resolve', unresolve: 'Reopen', ignore: 'Ignore', unignore: 'Stop ignoring' } as const;
/** What can be done with the selected groups of a status. */
const bulkActs: Readonly<Record<string, readonly (keyof typeof labels)[]>> = {
  unresolved: ['resolve', 'ignore'],
  resolved: ['unresolve', 'ignore'],
  ignored: ['unignore', 'resolve'],
  all: ['resolve', 'unresolve', 'ignore', 'unignore'],
};

const onGroups = (capability: Callable, done: string): Act => ({
  capability,
  done,
  input(form) {
    const ids = selectedIds(form);
    if (ids.length === 0) throw invalidField('id', 'minItems', 'Select at least one error.');
    return ids.map((id) => ({ error_group_id: id }));
  },
});

export const errorsPage: ConsolePage = {
  name: 'errors',
  path: '/errors',
  needs: errorsGroups,
  nav: { label: 'Errors', key: 'e', group: 'observe' },
  isLive: true,
  show,
  acts: {
    resolve: onGroups(resolve, 'Resolved. A new event reopens an error.'),
    unresolve: onGroups(unresolve, 'Reopened.'),
    ignore: onGroups(ignore, 'Ignored: events are counted, and nobody is notified.'),
    unignore: onGroups(unignore, 'No longer ignored.'),
  },
};

async function show(visit: Visit): Promise<View> {
  const q = visit.query.get('q')?.trim() || undefined;
  const content = html`<h1>Errors</h1>
${searchForm(visit, q)}
${q === undefined ? await groupPanel(visit) : await foundPanel(visit, q)}`;
  return { title: 'Errors', content };
}

function searchForm(visit: Visit, q: string | undefined): Html {
  if (!visit.may(errorsSearch)) return html``;
  const all = q === undefined ? '' : html` <a href="${visit.path('/errors')}">All errors</a>`;
  return html`<form method="get" class="row" role="search"><label>Search events <input type="search" name="q" value="${q ?? ''}" size="30" placeholder="card declined" spellcheck="false"></label> <button>Search</button>${all}</form>`;
}

async function groupPanel(visit: Visit): Promise<Html> {
  const sent = visit.query.get('status');
  const status = sent === 'all' ? undefined : sent || 'unresolved';
  const sort = visit.query.get('sort') || 'last_seen_desc';
  const cursor = visit.query.get('cursor') ?? undefined;
  const list = await visit.call(errorsGroups, { status, sort, cursor, limit: ROWS });
  return panel(
    visit,
    'Groups',
    list,
    (page) => html`${views(visit, status, sort)}${groups(visit, page, status)}${more(visit, page)}`,
  );
}

function views(visit: Visit, status: string | undefined, sort: string): Html {
  const states = STATUSES.map(([value, text]) => ({
    text,
    href: withQuery(visit, { status: value, cursor: null }),
    isHere: value === (status ?? 'all'),
  }));
  const orders = SORTS.map(([value, text]) => ({
    text,
    href: withQuery(visit, { sort: value, cursor: null }),
    isHere: value === sort,
  }));
  return html`<div class="side">${tabs('Status', states)}${tabs('Order', orders)}</div>`;
}

function groups(visit: Visit, { items }: Page<Group>, status: string | undefined): Html {
  const acts = (bulkActs[status ?? 'all'] ?? []).map((act) => ({ act, label: labels[act] }));
  const select: Select<Group> = { visit, acts, idOf: (of) => of.error_group_id, nameOf: (of) => of.title.slice(0, 80) };
  return table<Group>({
    caption: 'Error groups',
    rows: items,
    ...(visit.may(resolve) ? { select } : {}),
    empty:
      status === 'unresolved'
        ? teach(
            'No unresolved errors. Programs report errors by a call, or by a Sentry SDK with this DSN:',
            firstCalls(visit),
          )
        : html`<p>No errors with this status.</p>`,
    columns: [
      {
        title: 'Error',
        cell: (group) =>
          html`<a id="group-${group.error_group_id}" href="${groupPath(visit, group.error_group_id)}">${typeBefore(group)}${short(group.title, 120)}</a>`,
      },
      { title: 'Level', cell: levelOf },
      { title: 'Status', cell: stateOf },
      {
        title: '24 hours',
        cell: ({ sparkline: hours, trend_24h }) => sparkline(hours, trend_24h.current),
      },
      { title: 'Events', kind: 'number', cell: (group) => count(group.count) },
      { title: 'Users', kind: 'number', cell: ({ user_count }) => count(user_count) },
      { title: 'Last seen', cell: ({ last_seen_at }) => ago(visit, last_seen_at) },
    ],
  });
}

async function foundPanel(visit: Visit, q: string): Promise<Html> {
  const cursor = visit.query.get('cursor') ?? undefined;
  const list = await visit.call(errorsSearch, { q, cursor, limit: ROWS });
  return panel(visit, 'Events', list, (page) => html`${events(visit, page)}${more(visit, page)}`);
}

function events(visit: Visit, { items }: Page<Found>): Html {
  return table<Found>({
    caption: 'Events',
    rows: items,
    empty: html`<p>No events match.</p>`,
    columns: [
      {
        title: 'Event',
        cell: ({ error_group_id: id, title }) => html`<a href="${groupPath(visit, id)}">${short(title, 120)}</a>`,
      },
      { title: 'Level', cell: levelOf },
      { title: 'Environment', cell: ({ environment }) => short(environment ?? '', 40) },
      { title: 'Release', cell: ({ release }) => short(release ?? '', 40) },
      { title: 'When', cell: ({ timestamp }) => ago(visit, timestamp) },
    ],
  });
}

function firstCalls({ baseUrl }: Visit): string {
  const body = JSON.stringify({ message: 'disk full', level: 'error' });
  const { protocol, host } = new URL(baseUrl);
  return `curl -sS ${baseUrl}/v1/errors/capture -H "Authorization: Bearer $QM_KEY" -H 'Content-Type: application/json' -d '${body}'\nSENTRY_DSN=${protocol}//$QM_KEY@${host}/v1/errors/sentry/1`;
}
