// Objects of the account by name or id, as each module finds its own.
import type { ConsolePage } from '../../kit/console/page.ts';
import { badge, table } from '../../kit/console/table.ts';
import { short } from '../../kit/console/text.ts';
import type { FoundObject, Visit } from '../../kit/console/visit.ts';
import { html } from '../../lib/html.ts';

const TEXT_CHARACTERS_MAX = 200;

export const findPage: ConsolePage = {
  name: 'find',
  path: '/find',
  needs: { id: 'account.get' },
  nav: { label: 'Search', key: 'f', group: 'start' },
  async show(visit) {
    const text = (visit.query.get('q') ?? '').trim().slice(0, TEXT_CHARACTERS_MAX);
    const found = text === '' ? [] : await visit.find(text);
    const content = html`<h1>Search</h1>
<form method="get" class="row" role="search"><label>Name or id <input type="search" name="q" value="${text}" size="40" spellcheck="false"></label> <button>Search</button></form>
${text === '' ? '' : results(visit, found)}`;
    return { title: 'Search', content };
  },
};

function results(visit: Visit, found: readonly FoundObject[]) {
  return table<FoundObject>({
    caption: 'Results',
    rows: found,
    empty: html`<p>No object of this account has this name or id.</p>`,
    columns: [
      { title: 'Name', cell: ({ name, path }) => html`<a href="${visit.path(path)}">${short(name, 120)}</a>` },
      { title: 'Kind', cell: ({ kind }) => badge(kind) },
    ],
  });
}
