// The pages that stand in the navigation, in groups, with how much fails there. Entries of modules that hold nothing, and that this browser
// never opened, stand under "More".
import type { ConsolePage, NavEntry, navGroups } from '../../kit/console/page.ts';
import { countOf } from '../../kit/console/text.ts';
import { type Html, html } from '../../lib/html.ts';
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
  money: 'Money',
  settings: 'Settings',
  operator: 'Service',
};

export type NavPage = ConsolePage & { readonly nav: NavEntry };

/** Those that the visitor may see, in the order of the groups. */
export function navPages(pages: readonly ConsolePage[], visit: PageVisit): readonly NavPage[] {
  return pages.filter((page): page is NavPage => page.nav !== undefined && visit.may(page.needs));
}

/** The entry that a page belongs to: its own, or that of the page above it. */
export function entryOf(here: ConsolePage, pages: readonly NavPage[]): NavPage | undefined {
  const [, room = ''] = here.path.split('/');
  return (
    pages.find(({ path }) => path === here.path) ?? pages.find(({ path }) => path !== '' && path.split('/')[1] === room)
  );
}

export function navigation(
  here: ConsolePage,
  pages: readonly NavPage[],
  visit: PageVisit,
  { failing, holding }: Standing,
): Html {
  const around = entryOf(here, pages);
  const entry = ({ nav, path }: NavPage) => {
    const current =
      path !== around?.path ? '' : path === here.path ? html` aria-current="page"` : html` aria-current="true"`;
    return html`<li><a href="${visit.path(path)}" data-key="${nav.key}"${current}>${nav.label}${countBadge(failing.get(path) ?? 0)}</a></li>`;
  };
  const isOpen = ({ name, path, nav }: NavPage) =>
    nav.holds === undefined || holding.has(path) || path === around?.path || visit.preferences.opened.includes(name);
  const groups = [...Map.groupBy(pages.filter(isOpen), ({ nav }) => nav.group)].map(([group, entries]) => {
    const title = groupTitles[group];
    const heading = title === null ? '' : html`<h2 id="nav-${group}">${title}</h2>`;
    return html`${heading}<ul${title === null ? '' : html` aria-labelledby="nav-${group}"`}>${entries.map(entry)}</ul>`;
  });
  const others = pages.filter((page) => !isOpen(page));
  const more =
    others.length === 0
      ? ''
      : html`<details class="others"><summary>More</summary><ul aria-label="More">${others.map(entry)}</ul></details>`;
  return html`${groups}${more}`;
}

function countBadge(count: number): Html {
  if (count === 0) return html``;
  const shown = count > COUNT_MAX ? `${COUNT_MAX}+` : String(count);
  return html` <span class="count"><span aria-hidden="true">${shown}</span><span class="unseen">${countOf(count, 'thing')} failing</span></span>`;
}
