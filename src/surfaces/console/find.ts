// Objects of the account by name or id, as account.search finds them: as a page, and as records for the palette.
import type { ConsolePage } from '../../kit/console/page.ts';
import { badge, table } from '../../kit/console/table.ts';
import { short } from '../../kit/console/text.ts';
import type { Callable, Visit } from '../../kit/console/visit.ts';
import { html } from '../../lib/html.ts';

const TEXT_CHARACTERS_MAX = 200;
const search: Callable = { id: 'account.search' };

interface Found {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly console_url: string;
}

export const findPage: ConsolePage = {
  name: 'find',
  path: '/find',
  needs: search,
  async show(visit) {
    const text = searchText(visit);
    const content = html`<h1>Search</h1>
<form method="get" class="row" role="search"><label>Name or ID <input type="search" name="q" value="${text}" size="40" spellcheck="false"></label> <button>Search</button></form>
${text === '' ? '' : results(visit, await foundFor(visit, text))}`;
    return { title: 'Search', content };
  },
  async jsonl(visit) {
    const text = searchText(visit);
    const found = text === '' ? [] : await foundFor(visit, text);
    return found
      .map(({ kind, id, name, console_url }) => `${JSON.stringify({ kind, id, name, path: pathOf(console_url) })}\n`)
      .join('');
  },
};

function searchText({ query }: Visit): string {
  return (query.get('q') ?? '').trim().slice(0, TEXT_CHARACTERS_MAX);
}

async function foundFor(visit: Visit, q: string): Promise<readonly Found[]> {
  return ((await visit.need(search, { q })) as { readonly items: readonly Found[] }).items;
}

/** As the browser of the console knows it, whatever name of the service it came by. */
function pathOf(url: string): string {
  return new URL(url).pathname;
}

function results(visit: Visit, found: readonly Found[]) {
  return table<Found>({
    caption: 'Results',
    sorted: visit,
    rows: found,
    empty: html`<p>No object of this account has this name or ID.</p>`,
    columns: [
      {
        title: 'Name',
        cell: ({ name, console_url }) => html`<a href="${pathOf(console_url)}">${short(name, 120)}</a>`,
        sortBy: ({ name }) => name,
      },
      { title: 'Kind', cell: ({ kind }) => badge(kind), sortBy: ({ kind }) => kind },
    ],
  });
}
