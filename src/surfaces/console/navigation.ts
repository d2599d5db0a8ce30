// The pages that stand in the navigation, in groups that fold, with how much fails or waits there. It is the same on every page and stays as the reader
// left it: what is folded is kept in a cookie, which the script of the console writes.
import type { ConsolePage, NavEntry, navGroups } from '../../kit/console/page.ts';
import { countOf } from '../../kit/console/text.ts';
import { type Html, html } from '../../lib/html.ts';
import { icon } from './icons.ts';
import type { Standing } from './standing.ts';
import type { PageVisit } from './visit.ts';

const COUNT_MAX = 99;

/** What the entries of a group are headed by; the first ones need no heading. */
const groupTitles: Readonly<Record<(typeof navGroups)[number], string | null>> = {
  start: null,
  build: 'Build',
  observe: 'Observe',
  reach: 'Reach',
  make: 'Make',
  settings: 'Settings',
  operator: 'Service',
};

export type NavPage = ConsolePage & { readonly nav: NavEntry };

/** Those that the visitor may see, in the order of the groups. */
export function navPages(pages: readonly ConsolePage[], visit: PageVisit): readonly NavPage[] {
  return pages.filter((page): page is NavPage => page.nav !== undefined && visit.may(page.needs));
}

/** The entry that a page belongs to: its own, or that of the page above it. */
function entryOf(here: ConsolePage, pages: readonly NavPage[]): NavPage | undefined {
  const [, room = ''] = here.path.split('/');
  return (
    pages.find(({ path }) => path === here.path) ?? pages.find(({ path }) => path !== '' && path.split('/')[1] === room)
  );
}

export function navigation(
  here: ConsolePage,
  pages: readonly NavPage[],
  visit: PageVisit,
  standing: Pick<Standing, 'failing' | 'waiting'>,
): Html {
  const around = entryOf(here, pages);
  const entry = ({ nav, path }: NavPage) => {
    const current =
      path !== around?.path ? '' : path === here.path ? html` aria-current="page"` : html` aria-current="true"`;
    return html`<li><a href="${visit.path(path)}" data-key="${nav.key}"${current}>${nav.label}${marks(standing, [path])}</a></li>`;
  };
  const groups = [...Map.groupBy(pages, ({ nav }) => nav.group)].map(([group, entries]) => {
    const title = groupTitles[group];
    if (title === null) return html`<ul>${entries.map(entry)}</ul>`;
    // Folded, a group tells what its entries would.
    const told = marks(
      standing,
      entries.map(({ path }) => path),
    );
    const isHere = entries.some(({ path }) => path === around?.path);
    const isOpen = !visit.preferences.folded.includes(group);
    return html`<details data-group="${group}"${isOpen ? html` open` : ''}><summary${isHere ? html` class="here"` : ''}>${icon(group)}${title}${told}</summary><ul aria-label="${title}">${entries.map(entry)}</ul></details>`;
  });
  return html`${groups}`;
}

/** What entries are marked with: how much fails there, and how much waits for a person. */
function marks({ failing, waiting }: Pick<Standing, 'failing' | 'waiting'>, paths: readonly string[]): Html {
  const sumOf = (counts: ReadonlyMap<string, number>) => paths.reduce((sum, path) => sum + (counts.get(path) ?? 0), 0);
  const [fails, waits] = [sumOf(failing), sumOf(waiting)];
  return html`${countBadge(fails, `${countOf(fails, 'thing')} failing`, '')}${countBadge(waits, `${countOf(waits, 'call waits', 'calls wait')} for approval`, ' waiting')}`;
}

function countBadge(count: number, text: string, kind: '' | ' waiting'): Html {
  if (count === 0) return html``;
  const shown = count > COUNT_MAX ? `${COUNT_MAX}+` : String(count);
  return html` <span class="count${kind}"><span aria-hidden="true">${shown}</span><span class="unseen">${text}</span></span>`;
}
